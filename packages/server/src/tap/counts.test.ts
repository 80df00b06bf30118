import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../http/errors.ts';
import { LiveCounts, lastMinutes } from './counts.ts';

const SCOPE = { pipeline_id: 'pl_1', group_by: 'integration_id' } as const;
let reads: string[];
let readTakesMs: number;
let counts: LiveCounts;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.parse('2026-05-01T12:00:03.000Z') });
  reads = [];
  readTakesMs = 0;
  const clock = { now: () => Date.now(), monotonic: () => Date.now() };
  counts = new LiveCounts(async (orgId, scope) => {
    reads.push(`${orgId} ${scope.pipeline_id}`);
    vi.setSystemTime(Date.now() + readTakesMs);
    if (scope.pipeline_id === 'pl_gone') throw new ApiError('NOT_FOUND', { message: 'There is no such pipeline.' });
    if (scope.pipeline_id === 'pl_away') throw new Error('password of the database in here');
    return { series: [{ time: '2026-05-01T12:00:00.000Z', received: 7, rejected: 0, p50_ms: null }], waiting: 0 };
  }, clock);
});
afterEach(() => void vi.useRealTimers());

const reader = (bufferedAmount = 0) => {
  const messages: unknown[] = [];
  return { messages, bufferedAmount, send: (text: string) => void messages.push(JSON.parse(text)) };
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('one read serves all who ask for the same, again every two seconds, without zeros', async () => {
  const [first, second, other] = [reader(), reader(), reader()];
  counts.ask(first, 'org_1', [SCOPE]);
  counts.ask(second, 'org_1', [SCOPE]);
  counts.ask(other, 'org_2', [SCOPE]);
  await pass(0);
  expect(reads).toEqual(['org_1 pl_1']);
  await pass(2_000);
  expect(reads.slice(1)).toEqual(['org_1 pl_1', 'org_2 pl_1']);
  const message = {
    time: '2026-05-01T12:00:05.000Z',
    stage: 'counts',
    scope: SCOPE,
    counts: { series: [{ time: '2026-05-01T12:00:00.000Z', received: 7 }], waiting: 0 },
  };
  for (const { messages } of [first, second, other]) expect(messages.at(-1)).toEqual(message);
});

test('slow reads come less often: they use a twentieth of the time', async () => {
  readTakesMs = 500;
  counts.ask(reader(), 'org_1', [SCOPE]);
  await pass(9_900);
  expect(reads).toHaveLength(1);
  await pass(200);
  expect(reads).toHaveLength(2);
});

test('scopes without end of one organisation made the others wait for minutes: each has its share of a round', async () => {
  readTakesMs = 30;
  const scopes = (n: number) => Array.from({ length: 4 }, (_, i) => ({ pipeline_id: `pl_${n}${i}` }));
  for (let n = 0; n < 3; n++) counts.ask(reader(), 'org_1', scopes(n));
  counts.ask(reader(), 'org_2', [SCOPE]);
  await pass(0);
  expect(reads).toEqual(['org_1 pl_00', 'org_1 pl_01']);
  await pass(2_000);
  expect(reads.slice(2)).toEqual(['org_1 pl_02', 'org_1 pl_03', 'org_2 pl_1']);
  await pass(2_000);
  expect(reads.slice(5)).toEqual(['org_1 pl_10', 'org_1 pl_11', 'org_2 pl_1']);
});

test('nothing is read once nobody asks, and a reader who is full gets none', async () => {
  const full = reader(1_000_000);
  counts.ask(full, 'org_1', [SCOPE]);
  await pass(4_000);
  expect([reads.length, full.messages]).toEqual([3, []]);
  counts.ask(full, 'org_1', []);
  await pass(10_000);
  expect(reads).toHaveLength(3);
});

test('a pipeline that does not exist and a store that is away are answered with the reason', async () => {
  const asking = reader();
  counts.ask(asking, 'org_1', [{ pipeline_id: 'pl_gone' }, { pipeline_id: 'pl_away' }]);
  await pass(0);
  expect(asking.messages).toEqual([
    { stage: 'error', scope: { pipeline_id: 'pl_gone' }, reason: 'There is no such pipeline.' },
    { stage: 'error', scope: { pipeline_id: 'pl_away' }, reason: 'the counts cannot be read now' },
  ]);
});

test('the last minutes are five whole ones and the current one', () => {
  expect(lastMinutes(Date.parse('2026-05-01T12:00:03.000Z'))).toEqual({
    from: '2026-05-01T11:55:00.000Z',
    to: '2026-05-01T12:00:03.000Z',
    interval: 'minute',
  });
});
