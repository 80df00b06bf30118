import { expect, test } from 'vitest';
import { readNames, writeNames } from './search.ts';

test.each([
  [['Order Completed', '@page'], 'Order Completed,@page'],
  [['Cart, saved', 'Order Completed'], '["Cart, saved","Order Completed"]'],
  [['[test]'], '["[test]"]'],
])('the names %j of events to replay stay as they are in the address (a comma made two of one)', (names, text) => {
  expect(writeNames(names)).toBe(text);
  expect(readNames(text)).toEqual(names);
});
