import { expect, test } from 'vitest';
import { changeJsonText } from './long-numbers.ts';

test.each([
  ['{"a":9007199254740993,"b":1}', '{"a":9007199254740993}'],
  ['{"a":[1e400,-0.12345678901234567890],"b":{}}', '{"a":[1e400,-0.12345678901234567890]}'],
  ['{ "a" : "9007199254740993" , "b" : 9007199254740993 }', '{"a":"9007199254740993"}'],
  ['{"__proto__":{"b":9007199254740993}}', '{"__proto__":{"b":9007199254740993}}'],
])('%s keeps its digits while a field is removed', (text, changed) => {
  const withoutB = (value: unknown) => {
    const { b: _b, ...rest } = value as Record<string, unknown>;
    return rest;
  };
  expect(changeJsonText(Buffer.from(text), withoutB)).toBe(changed);
});
test('what is changed inside a number is text', () => {
  const redacted = (value: unknown) => JSON.parse(JSON.stringify(value).replace('4111111111111111', '[redacted]'));
  expect(changeJsonText(Buffer.from('{"card":4111111111111111}'), redacted)).toBe('{"card":"[redacted]"}');
});
