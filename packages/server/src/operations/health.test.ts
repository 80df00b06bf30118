import { expect, test } from 'vitest';
import { DELIVERY_HEALTH_CHANNEL } from '../channels.ts';
import { inProcessEphemeral } from '../stores/ephemeral/in-process.ts';
import { type EventLog, LogUnavailable } from '../stores/event-log/port.ts';
import { backlogOf, waitingFor, watchDeliverers } from './health.ts';

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
  const unknown = { waiting: 0, replays: 0, oldest: undefined, known: false };
  expect(await waitingFor(failing(false, new Error('not asked')), integration)).toEqual(unknown);
  expect(await waitingFor(failing(true, new LogUnavailable('away')), integration)).toEqual(unknown);
  await expect(waitingFor(failing(true, new Error('on purpose')), integration)).rejects.toThrow('on purpose');
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
