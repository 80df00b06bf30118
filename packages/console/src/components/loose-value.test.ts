import { expect, test } from 'vitest';
import { readLoose, readLooseList, writeLoose, writeLooseList } from './loose-value.ts';

test.each([
  ['12', 12],
  ['"12"', '12'],
  ['true', true],
  ['{"a":1}', { a: 1 }],
  ['EUR', 'EUR'],
  ['1x', '1x'],
  ['12345678901234567890', '12345678901234567890'],
  ['', ''],
  ['null', null],
  ['"a" and b', '"a" and b'],
])('%j is read as %j, and written the same way', (text, value) => {
  expect(readLoose(text)).toEqual(value);
  expect(writeLoose(value)).toBe(text);
});
test.each([
  ['EUR, USD', ['EUR', 'USD']],
  ['1, "2", x', [1, '2', 'x']],
  ['1, 12345678901234567890', [1, '12345678901234567890']],
  ['["a, b","c"]', ['a, b', 'c']],
  ['', []],
])('the list %j is read as %j, and written the same way', (text, list) => {
  expect(readLooseList(text)).toEqual(list);
  expect(writeLooseList(list)).toBe(text);
});
