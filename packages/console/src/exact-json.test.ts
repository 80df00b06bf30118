import { expect, test } from 'vitest';
import { parseExactly } from './exact-json.ts';

test('a number that JavaScript would round is not sent', () => {
  expect(parseExactly('{"total":9007199254740991,"rate":0.1}')).toEqual({ total: 9_007_199_254_740_991, rate: 0.1 });
  expect(() => parseExactly('{"properties":{"total":9007199254740993}}')).toThrow('properties.total cannot be kept exactly');
  expect(() => parseExactly('{"a"')).toThrow(SyntaxError);
});
