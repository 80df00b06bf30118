/**
 * Every regular expression of the service is linear: none reads a hostile text again and again. JavaScript's engine backtracks, so a
 * harmless `_+$` needs minutes for a megabyte of underscores before another letter.
 */
import { globSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = `${import.meta.dirname}/..`;
const LITERAL = /(?<=[(=:,[!&|?{};\s])\/((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g;
/** In a schema or a vendor's field: `pattern: '^[a-z]+$'`. */
const TEXT = /(?:pattern|[A-Z]_PATTERN)(?:: string)?[:=]? ?[:=] ?'((?:[^'\\\n]|\\.)+)'/g;
/** Of a text of this length a linear pattern needs well below a millisecond, a quadratic one most of a second. */
const LENGTH = 20_000;
const MOST_CPU_MS = 100;
const UNITS = [
  ...['_', ' ', '-', '.', '/', '%', '1', 'a', 'A', '=', '+', '\t', '\n', '@', '"', '{', '}', '{{', '\\', '#', '?', '&', ':', ';', ','],
  ...['(', '<', 'é', '[', "'", '$', '*', '|', '~', '^', '!', 'a@', '1.', 'a.', '%4', '0x', '1,', 'a1', 'x ', '. ', '--', '/*', 'a=b;'],
];
const AROUND = [
  ['', ''],
  ['a', 'b'],
  ['', '\nx'],
  ['a', ' !'],
] as const;
const TEXTS = UNITS.flatMap((unit) => AROUND.map(([before, after]) => before + unit.repeat(LENGTH / unit.length) + after));

const patterns = new Map<string, { pattern: RegExp; where: string }>();
for (const file of globSync(`${ROOT}/packages/{core,catalog,server}/src/**/*.ts`)) {
  if (/\.test\.ts$|\/testing\/|\/conformance\/|cases\.ts$/.test(file)) continue;
  const text = readFileSync(file, 'utf8');
  for (const [, source = '', flags = ''] of text.matchAll(LITERAL)) {
    const pattern = compiled(source, flags);
    if (pattern !== undefined) patterns.set(`${pattern}`, { pattern, where: relative(ROOT, file) });
  }
  for (const [, source = ''] of text.matchAll(TEXT)) {
    const pattern = compiled(source.replaceAll(/\\(.)/g, '$1'), 'u');
    if (pattern !== undefined) patterns.set(`${pattern}`, { pattern, where: relative(ROOT, file) });
  }
}

/** Undefined for what only looks like a pattern: a division, or a path in a comment. */
function compiled(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

function cpuMs(pattern: RegExp, text: string): number {
  const before = process.cpuUsage();
  text.replace(pattern, '');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
/** Twice, because a garbage collection may fall into the first time. */
function isSlow(pattern: RegExp, text: string): boolean {
  return cpuMs(pattern, text) > MOST_CPU_MS && cpuMs(pattern, text) > MOST_CPU_MS;
}

test('patterns are found', () => {
  expect(patterns.size).toBeGreaterThan(300);
});

test('the measure tells a quadratic pattern from a linear one', () => {
  const text = `a${'_'.repeat(LENGTH)}b`;
  expect(cpuMs(/_+$/, text)).toBeGreaterThan(MOST_CPU_MS);
  expect(cpuMs(/(?<!_)_+$/, text)).toBeLessThan(MOST_CPU_MS);
});

test.each(
  [...patterns.values()].map(({ pattern, where }) => [String(pattern), where, pattern] as const),
)('%s in %s', (_name, _where, pattern) => {
  const slow = TEXTS.filter((text) => isSlow(pattern, text)).map((text) => text.slice(0, 4));
  expect(slow).toEqual([]);
});
