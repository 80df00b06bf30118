import { expect, test } from 'vitest';
import { DELIVERY_HEALTH_CHANNEL } from '../channels.ts';
import { inProcessEphemeral } from '../stores/ephemeral/in-process.ts';
import { type EventLog, LogUnavailable } from '../stores/event-log/port.ts';
import { SLACK_MS } from './find-events.ts';
import { backlogOf, waitingFor, waitingSince, watchDeliverers } from './health.ts';

test('the backlog of thousands of integrations is counted in turns of the loop', async () => {
  let counted = 0;
  const seen: number[] = [];
  const log = {
    available: true,
    groups: async () => [],
    lag: async (topic: string) => {
      const end = performance.now() + 0.05;
      while (performance.now() < end);
      counted++;
      return { waiting: topic.includes('replay') ? 1 : 3, oldest: undefined };
    },
  } as unknown as EventLog;
  let immediate = setImmediate(function look() {
    seen.push(counted);
    immediate = setImmediate(look);
  });
  const integrations = Array.from({ length: 1_000 }, (_, i) => ({ id: `int_${i}`, pipeline_id: 'pl_1' }));
  expect(await backlogOf(log, integrations)).toBe(3_000);
  clearImmediate(immediate);
  expect(seen.some((n) => n > 0 && n < counted)).toBe(true);
});

test('a backlog that the log cannot count is not known, and another failure is not hidden', async () => {
  const failing = (available: boolean, error: Error) =>
    ({
      available,
      groups: () => new Promise((_, reject) => setTimeout(reject, 1, error)),
      lag: () => Promise.reject(error),
    }) as unknown as EventLog;
  const integration = { id: 'int_1', pipeline_id: 'pl_1' };
  const unknown = { waiting: 0, replays: 0, oldest: undefined, known: false, started: false };
  expect(await waitingFor(failing(false, new Error('not asked')), integration)).toEqual(unknown);
  expect(await waitingFor(failing(true, new LogUnavailable('away')), integration)).toEqual(unknown);
  await expect(waitingFor(failing(true, new Error('on purpose')), integration)).rejects.toThrow('on purpose');
});

test('no event older than the oldest backlog waits, unless a replay does or a deliverer has not started', async () => {
  const since = (groups: string[], lags: Record<string, { waiting: number; oldest?: number }>, ids = ['int_1']) => {
    const lag = async (topic: string, group: string) => lags[`${topic} ${group}`] ?? { waiting: 0, oldest: undefined };
    const log = { available: true, groups: async () => groups, lag } as unknown as EventLog;
    return waitingSince(
      log,
      ids.map((id) => ({ id, pipeline_id: 'pl_1' })),
    );
  };
  expect(await since([], {}, []), 'no integration').toBe(Number.POSITIVE_INFINITY);
  expect(await since(['int_1'], {}), 'no backlog').toBe(Number.POSITIVE_INFINITY);
  expect(await since([], {}), 'not started').toBe(Number.NEGATIVE_INFINITY);
  const lanes = { 'events.pl_1 int_1~a': { waiting: 1, oldest: 90_000 }, 'events.pl_1 int_1~b': { waiting: 1, oldest: 80_000 } };
  expect(await since(['int_1~a', 'int_1~b', 'int_2'], lanes, ['int_1', 'int_2'])).toBe(80_000 - SLACK_MS);
  expect(await since(['int_1~a', 'int_1~b'], lanes, ['int_1', 'int_2']), 'one has not started').toBe(Number.NEGATIVE_INFINITY);
  const replayed = { 'replay.int_1 int_1': { waiting: 1, oldest: 90_000 } };
  expect(await since(['int_1'], replayed)).toBe(Number.NEGATIVE_INFINITY);
  const away = { available: false } as unknown as EventLog;
  expect(await waitingSince(away, [{ id: 'int_1', pipeline_id: 'pl_1' }])).toBe(Number.NEGATIVE_INFINITY);
});

test('what a deliverer announces is void after three intervals', async () => {
  let now = 0;
  const ephemeral = inProcessEphemeral();
  const { paused, cannotRun, stop } = watchDeliverers(ephemeral, { now: () => 0, monotonic: () => now });
  const integrations = [
    { integration_id: 'int_1', status: 'failing', reason: 'too many consumers' },
    { integration_id: 'int_2', status: 'paused' },
  ];
  ephemeral.publish(DELIVERY_HEALTH_CHANNEL, { integrations, interval_ms: 2_000, from: 'a' });
  await new Promise((resolve) => setImmediate(resolve));
  const seen = () => ['int_1', 'int_2'].map((id) => [paused(id), cannotRun(id)]);
  expect(seen()).toEqual([
    [false, 'too many consumers'],
    [true, undefined],
  ]);
  now = 6_001;
  expect(seen()).toEqual([
    [false, undefined],
    [false, undefined],
  ]);
  stop();
});
