import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { compilePattern } from './pattern.ts';
import { estimatePatternSteps } from './pattern-size.ts';

test.each([
  'a',
  '^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,}$',
  '^.{1,1000}$',
  '[a-z]{800}',
  '(a|b|c){100}',
  '(?:(?:ab){10}){10}',
  '(?i)order[-_ ]?\\d+$',
  '(?P<year>\\d{4})-(?P<month>\\d{2})',
  '[]a]{20}[^]]{20}[[:alpha:]\\]]{20}',
  'a{,3}',
  '\\x{1F600}{50}',
])('%s: within a factor of three of the real size', (pattern) => {
  const size = RE2JS.compile(pattern).programSize();
  const estimate = estimatePatternSteps(pattern, false);
  expect(estimate).toBeGreaterThanOrEqual(size / 3);
  expect(estimate).toBeLessThanOrEqual(size * 3 + 5);
});

test.each([
  ['nested repetitions', '((a{90}){90}){90}', false],
  ['folded Unicode classes', '\\p{L}'.repeat(190), true],
  ['a class of them', `[${'\\p{Lu}'.repeat(100)}]`, true],
  ['open groups', '('.repeat(900), false],
  ['repetitions of nothing', '{9}{9}{9}{9}', false],
])('%s: refused or compiled, never slow', (_name, pattern, anyCase) => {
  const started = process.threadCpuUsage();
  compilePattern(pattern, { any_case: anyCase });
  const { user, system } = process.threadCpuUsage(started);
  expect(user + system).toBeLessThan(2_000_000);
});

test('a pattern is compiled once', () => {
  expect(compilePattern('once[0-9]')).toBe(compilePattern('once[0-9]'));
  expect(compilePattern('once[0-9]', { any_case: true })).not.toBe(compilePattern('once[0-9]'));
});
