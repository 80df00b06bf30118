import { expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Plan } from './plan.ts';
import type { HeldEvent } from './settlement.ts';

const broken = (): never => {
  throw new TypeError('it broke');
};
const DEAD = { kind: 'settle', settlement: { kind: 'dead_letter', stage: 'mapping', reason: 'the mapping failed: it broke' } };

// The consumer handed the event out again for ever, and none behind it.
test.each([
  ['the event filter', { dropReason: broken }],
  ['the target of a stored event', { compiled: { vendor: { verbatim: broken }, faults: [], integration: {} } }],
  ['the mapping', { compiled: { vendor: { buildAtOnce: broken, buildInSteps: broken }, faults: [], integration: {} } }],
])('an event on which %s breaks becomes a dead letter, small and large', async (_name, over) => {
  const plan = {
    compiled: { vendor: {}, faults: [], integration: {} },
    dropReason: undefined,
    readsEvent: true,
    ...over,
  } as unknown as Plan;
  for (const bytes of [10, 2_000_000]) {
    const held = { delivery: { record: { data: { length: bytes } } }, decoded: { shared: {}, event: {} } } as unknown as HeldEvent;
    expect(await decide(held, plan, { kind: 'send' }, 0, 'int_1')).toMatchObject(DEAD);
  }
});
