import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanJson, TOO_DEEP, TOO_MANY } from './scan-json.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const nestsDeeperThan = (json: Uint8Array, max: number) => (scanJson(json, max) & TOO_DEEP) !== 0;
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test.each([
  ['{}', 1, false],
  ['{"a":{"b":1}}', 1, true],
  ['{"a":{"b":1}}', 2, false],
  ['[[],[],[]]', 2, false],
  ['{"a":"[[[[[["}', 1, false],
  ['{"a":"\\"[[[["}', 1, false],
  ['{"a":"\\\\","b":[[1]]}', 2, true],
  [`${'['.repeat(64)}${']'.repeat(64)}`, 64, false],
  [`${'['.repeat(65)}${']'.repeat(65)}`, 64, true],
  ['['.repeat(500_000), 64, true],
  ['{"é":["ü"]}', 2, false],
])('%s', (text, max, deeper) => {
  expect(nestsDeeperThan(bytes(text), max)).toBe(deeper);
});

test('agrees with the parsed value on any JSON', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 0, max: 8 }), (text, max) => {
      expect(nestsDeeperThan(bytes(text), max)).toBe(depthOf(JSON.parse(text)) > max);
    }),
  );
});

test.each([
  ['objects', `[${Array(50_001).fill('{}').join(',')}]`],
  ['lists', `[${Array(50_001).fill('[]').join(',')}]`],
  ['names', `{${Array.from({ length: 50_001 }, (_, i) => `"k${i}":1`).join(',')}}`],
])('too many %s', (_name, text) => expect(scanJson(bytes(text), 64)).toBe(TOO_MANY));
test('numbers and texts in a list are not counted', () =>
  expect(scanJson(bytes(`[${Array(200_000).fill('1,"{"').join(',')}]`), 64)).toBe(0));
