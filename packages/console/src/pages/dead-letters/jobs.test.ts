import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RefusedError } from '../../api-client.ts';
import { filterJob, lettersJob, type ReplayCalls } from './jobs.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limited = (seconds: number) => new RefusedError({ error: { code: 'RATE_LIMITED', message: 'Slower, please.' } } as never, seconds);
const COUNTED_AT = Date.parse('2026-05-01T10:00:00Z');

test('a replay sends what was counted, and nothing that failed again since', async () => {
  // Every letter fails again at once: without a bound the run would never end.
  let letters = Array.from({ length: 450 }, () => COUNTED_AT - 1_000);
  const calls: Pick<ReplayCalls, 'replay'> = {
    async replay({ to, dry_run, limit = letters.length }) {
      const bound = to === undefined ? Infinity : Date.parse(to);
      const matching = letters.filter((time) => time <= bound).slice(0, limit);
      if (dry_run === true) return { replayed: matching.length, at: COUNTED_AT };
      letters = [...letters.filter((time) => time > bound), ...letters.filter((time) => time <= bound).slice(matching.length)];
      letters.push(...matching.map(() => COUNTED_AT + 60_000));
      return { replayed: matching.length, at: COUNTED_AT + 60_000 };
    },
  };
  const job = filterJob('all', async () => [{ pipeline_id: 'pl_1' }], calls as ReplayCalls);
  expect(await job.estimate()).toBe(450);
  const sent: number[] = [];
  await job.run((count) => sent.push(count), new AbortController().signal, 'pinned');
  expect(sent).toEqual([200, 200, 50]);
});

test('a replay of a fixed time sends nothing that failed after it', async () => {
  const bounds: unknown[] = [];
  const calls: Pick<ReplayCalls, 'replay'> = {
    async replay({ to, dry_run }) {
      if (dry_run !== true) bounds.push(to);
      return { replayed: 1, at: COUNTED_AT };
    },
  };
  for (const end of ['2026-05-01T09:00:00.000Z', '2026-05-01T11:00:00.000Z']) {
    const job = filterJob('all', async () => [{ pipeline_id: 'pl_1', range: `2026-05-01T08:00:00.000Z/${end}` }], calls as ReplayCalls);
    await job.estimate();
    await job.run(() => undefined, new AbortController().signal, 'pinned');
  }
  expect(bounds).toEqual(['2026-05-01T09:00:00.000Z', '2026-05-01T10:00:00.000Z']);
});

test('chosen letters wait as long as the service asks, and all are sent', async () => {
  let refusals = 2;
  const sent: string[] = [];
  const calls: Pick<ReplayCalls, 'replayOne'> = {
    async replayOne(id) {
      if (id === 'b' && refusals-- > 0) throw limited(30);
      sent.push(id);
      return 1;
    },
  };
  const run = lettersJob('three', ['a', 'b', 'c'], calls as ReplayCalls).run(() => undefined, new AbortController().signal, 'pinned');
  await vi.advanceTimersByTimeAsync(59_000);
  expect(sent).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(1_000);
  await run;
  expect(sent).toEqual(['a', 'b', 'c']);
});

test('a cancelled replay does not wait any longer', async () => {
  const cancel = new AbortController();
  const calls: Pick<ReplayCalls, 'replayOne'> = { replayOne: () => Promise.reject(limited(3_600)) };
  let sent = 0;
  const run = lettersJob('one', ['a', 'b'], calls as ReplayCalls).run((count) => (sent += count), cancel.signal, 'pinned');
  await vi.advanceTimersByTimeAsync(10);
  cancel.abort();
  await run;
  expect(sent).toBe(0);
});
