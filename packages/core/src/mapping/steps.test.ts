import { expect, test } from 'vitest';
import { compileMappingInSteps } from './mapping.ts';

test('a mapping of many events is compiled event by event, so that a server can answer in between', () => {
  const events = Object.fromEntries(
    Array.from({ length: 6 }, (_, n) => [`Event ${n}`, { mappings: [{ source: `properties.a_${n}`, target: 'b' }] }]),
  );
  const steps = compileMappingInSteps({ events });
  let yields = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) yields++;
  expect(yields).toBeGreaterThanOrEqual(6);
  expect(step.value.ok).toBe(true);
});
