import { expect, test } from 'vitest';
import { AnswerSample } from './answer-sample.ts';

test('the answer of one request a second is kept, and none of a large batch', () => {
  let now = 0;
  const sample = new AnswerSample({ now: () => now, monotonic: () => now });
  expect(sample.mayKeep(100)).toBe(false);
  expect([sample.mayKeep(1), sample.mayKeep(1)]).toEqual([true, false]);
  now = 999;
  expect(sample.mayKeep(1)).toBe(false);
  now = 1_000;
  expect(sample.mayKeep(10)).toBe(true);
});
