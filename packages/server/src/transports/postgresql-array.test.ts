import { expect, test } from 'vitest';
import { binaryArray } from './postgresql-array.ts';

test('a list of texts: header, then the length and the bytes of each', () => {
  expect(binaryArray('text', ['é', null, ''])?.toString('hex')).toBe(
    `00000001${'00000001'}00000019${'00000003'}00000001${'00000002c3a9'}ffffffff${'00000000'}`,
  );
});
test('jsonb elements begin with their version, json elements do not', () => {
  const header = (oid: string) => `0000000100000000${oid}0000000100000001`;
  expect(binaryArray('jsonb', ['{}'])?.toString('hex')).toBe(`${header('00000eda')}00000003017b7d`);
  expect(binaryArray('json', ['{}'])?.toString('hex')).toBe(`${header('00000072')}000000027b7d`);
});
test.each([
  ['another type', 'double precision', [1]],
  ['a type whose name is inherited', 'constructor', ['a']],
  ['a value that is no text', 'text', ['a', 5]],
  ['no values', 'text', []],
])('%s is left to the client', (_name, sql, cells) => {
  expect(binaryArray(sql, cells)).toBeUndefined();
});
