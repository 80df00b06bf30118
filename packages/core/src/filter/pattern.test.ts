import { expect, test } from 'vitest';
import { compilePattern } from './pattern.ts';

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
