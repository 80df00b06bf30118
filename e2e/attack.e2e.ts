/** Runs each hostile corpus once: no wrong answer, no 5xx, and the process stays up. `npm run attack` repeats and varies them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PRODUCTION, RUNNERS } from '../attack/list.ts';
import { attack, REST_MS, startTarget, type Target } from '../attack/target.ts';

let development: Target;
let production: Target;
beforeAll(async () => {
  [development, production] = await Promise.all([startTarget(), startTarget(PRODUCTION)]);
});
afterAll(() => Promise.all([development, production].map(({ service }) => service.stop())));

test.each(RUNNERS.map((runner) => [runner.name, runner] as const))('%s', async (name, runner) => {
  const { cases, faults } = await attack(runner, name === 'addresses' ? production : development, 1, { restMs: 0 });
  expect(faults).toEqual([]);
  expect(cases).toBeGreaterThan(5);
});

test('what they left to process ends neither process', async () => {
  await sleep(REST_MS);
  expect([development, production].map(({ service }) => service.ended())).toEqual([undefined, undefined]);
});
