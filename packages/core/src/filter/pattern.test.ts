import { expect, test } from 'vitest';
import { compilePattern, withPatternBudget } from './pattern.ts';

test.each([
  ['the longest repetition RE2 knows', '^.{1,1000}$', true],
  ['an expression for URLs', 'https?://(www\\.)?[-a-zA-Z0-9@:%._+~#=]{1,256}\\.[a-zA-Z0-9()]{1,6}\\b([-a-zA-Z0-9()@:%_+.~#?&/=]*)', true],
  ['repetitions in a row', '.{1000}'.repeat(100), false],
  ['repetitions in one another', '(?:(?:a?b?){30}){30}', false],
  ['too many characters', 'a'.repeat(1_001), false],
])('%s', (_name, pattern, ok) => expect(compilePattern(pattern).ok).toBe(ok));

test('a text that is too much work for its pattern does not match, and stays unread by a replacement', () => {
  const compiled = compilePattern('x{1000}y');
  if (!compiled.ok) throw new Error(compiled.message);
  const fits = `${'x'.repeat(1_000)}y`;
  expect([compiled.regexp.test(fits), compiled.regexp.replaceAll(fits, '-')]).toEqual([true, '-']);
  const long = fits + 'z'.repeat(100_000);
  expect([compiled.regexp.test(long), compiled.regexp.replaceAll(long, '-')]).toEqual([false, undefined]);
});

test('an everyday pattern reads a text as large as an event can be', () => {
  const compiled = compilePattern('order[-_ ]?\\d+$', { any_case: true });
  expect(compiled.ok && compiled.regexp.test(`${'z'.repeat(1_000_000)} Order-17`)).toBe(true);
});

test('overlapping repetitions read a text only as long as they can in 40 ms', () => {
  // 35 steps. The automaton took 420 to 680 ms for 571,000 characters; `.{0,200}a.{0,200}[c-e][c-e]` took 180 ms for 1,490.
  const compiled = compilePattern('a.{30}c$');
  if (!compiled.ok) throw new Error(compiled.message);
  const ending = `a${'b'.repeat(30)}c`;
  expect(compiled.regexp.test('abc'.repeat(9_000) + ending)).toBe(true);
  expect(compiled.regexp.test('abc'.repeat(11_000) + ending)).toBe(false);
});

test('a replacement by a small pattern is bounded too', () => {
  const compiled = compilePattern('a.{7}c$');
  expect(compiled.ok && compiled.regexp.replaceAll('abc'.repeat(190_000), '')).toBeUndefined();
});

test('all patterns of one event share a budget', () => {
  const compiled = compilePattern('^[a-z]{2,100}$');
  if (!compiled.ok) throw new Error(compiled.message);
  const text = 'a'.repeat(100);
  const matches = withPatternBudget(() => Array.from({ length: 200 }, () => compiled.regexp.test(text)));
  expect(matches.indexOf(false)).toBeGreaterThan(20);
  expect(matches.slice(matches.indexOf(false)).every((match) => !match)).toBe(true);
  expect(withPatternBudget(() => compiled.regexp.test(text))).toBe(true);
});
