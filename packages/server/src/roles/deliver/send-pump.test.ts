import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Batch } from './batcher.ts';
import { onlyLane } from './lanes.ts';
import type { Limiter } from './limiter.ts';
import { SendPump } from './send-pump.ts';
import type { HeldEvent } from './settlement.ts';
import type { WorkerContext } from './worker-context.ts';
import { WorkerLife } from './worker-state.ts';

const CONCURRENCY = 12;
function aPump() {
  const sent: Batch[] = [];
  const context = { id: 'int_1', lane: onlyLane('int_1'), life: new WorkerLife() } as WorkerContext;
  const limiter = { mustLoad: false, take: () => 0 } as unknown as Limiter; // no rate, no daily limit
  const pump = new SendPump({ logger: pino({ level: 'silent' }) }, context, limiter, async (batch) => void sent.push(batch));
  return { pump, sent, context };
}
const batch = { vendor: { concurrency: CONCURRENCY }, parts: [{}], bytes: 1 } as unknown as Batch; // what the queue looks at
const held = () => ({}) as HeldEvent;

test('a request counts against the limit until each of its settlements is stored', () => {
  const { pump, sent } = aPump();
  pump.send(Array.from({ length: CONCURRENCY + 1 }, () => batch));
  expect(sent.length).toBe(CONCURRENCY);
  const [first, second] = [held(), held()];
  pump.settling([first, second]);
  pump.finished([]);
  pump.stored([{ held: first }]);
  expect(sent.length, 'its answer is there, one settlement is not stored').toBe(CONCURRENCY);
  pump.stored([{ held: second }]);
  expect(sent.length).toBe(CONCURRENCY + 1);
});

test('nothing is sent while the worker drains', () => {
  const { pump, sent, context } = aPump();
  context.life.enter('draining');
  pump.send([batch]);
  expect(sent).toEqual([]);
  expect(pump.idle).toBe(false);
  expect(pump.takeAll()).toEqual([batch]);
});
