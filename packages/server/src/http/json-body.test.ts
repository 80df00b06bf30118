import { scanJson, TOO_DEEP } from '@firsthand/core/event/scan-json.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ApiError } from './errors.ts';
import { findUnsafeText, parseJsonBody, parseJsonInSteps } from './json-body.ts';

const codeOf = (bytes: Uint8Array) => {
  try {
    parseJsonBody(bytes);
    return 'fine';
  } catch (error) {
    return (error as ApiError).code;
  }
};

test.each([
  ['{"a":1}', 'fine'],
  ['\ufeff{"a":1}', 'fine'],
  ['{"a":1', 'INVALID_JSON'],
  ["{'a':1}", 'INVALID_JSON'],
  ['NaN', 'INVALID_JSON'],
  [`${'['.repeat(64)}${']'.repeat(64)}`, 'fine'],
  [`${'['.repeat(65)}${']'.repeat(65)}`, 'VALIDATION_ERROR'],
  ['{"a":'.repeat(500_000), 'VALIDATION_ERROR'],
  [JSON.stringify('['.repeat(1_000)), 'fine'],
  [JSON.stringify(`"\\"${'{'.repeat(1_000)}`), 'fine'],
])('%.40s is %s', (text, code) => {
  expect(codeOf(Buffer.from(text))).toBe(code);
});

test('an empty body is undefined, and invalid UTF-8 is rejected', () => {
  expect(parseJsonBody(new Uint8Array())).toBeUndefined();
  expect(codeOf(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toBe('INVALID_JSON');
  expect(codeOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 'a surrogate in UTF-8').toBe('INVALID_JSON');
});

test.each([
  ['{"a":[1,2]}', 1],
  ['{"a":1000000000000000}', 2],
])('%s is scanned, parsed and, where it has long numbers, searched for inexact ones, one step each', (text, yields) => {
  const steps = parseJsonInSteps(Buffer.from(text));
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count += 1;
  expect(count).toBe(yields);
  expect(step.value).toEqual(JSON.parse(text));
});

test('depth is counted as the parser would', () => {
  const depth = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(7), (value, most) => {
      expect(scanJson(new TextEncoder().encode(JSON.stringify(value)), most) === TOO_DEEP).toBe(depth(value) > most);
    }),
  );
});

test.each([
  [{ a: 'fine', b: ['ok', { c: '🙂' }] }, undefined],
  [{ a: ['x', 'a\0'] }, 'a[1]'],
  [{ a: { b: '\ud800' } }, 'a.b'],
  [{ 'k\0': 1 }, ''],
  [[[{ 'a.b': ['\0'] }]], '[0][0].a.b[0]'],
  [JSON.parse('{"a":{"__proto__":1}}'), 'a'],
  [{ constructor: 1, toString: 'x' }, undefined],
])('unsafe text in %j is found at %j', (value, field) => {
  expect(findUnsafeText(value)?.field).toBe(field);
});
