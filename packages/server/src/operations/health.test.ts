import { expect, test } from 'vitest';
import type { EventLog } from '../stores/event-log/port.ts';
import { backlogOf } from './health.ts';

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
