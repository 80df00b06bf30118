import { expect, test } from 'vitest';
import type { ConfigField } from './definition.ts';
import { readFields } from './fields.ts';

const field = (over: Partial<ConfigField>): ConfigField => ({
  key: 'f',
  label: 'Field',
  type: 'string',
  required: false,
  placeholder: 'x',
  help_text: 'h',
  ...over,
});
const rules = { mode: 'production', allow_private: false, placeholders: false } as const;
const read = (over: Partial<ConfigField>, value: unknown) => {
  const { values, invalid, missing } = readFields([field(over)], { f: value }, rules);
  return invalid[0]?.message ?? missing[0]?.message ?? values.f;
};

test.each<[Partial<ConfigField>, unknown, unknown]>([
  [{ type: 'number' }, '5', 5],
  [{ type: 'number' }, 5.5, 5.5],
  [{ type: 'number', integer: true }, 5.5, 'must be a whole number'],
  [{ type: 'number' }, 'five', 'must be a number'],
  [{ type: 'number' }, '  ', 'must be a number'],
  [{ type: 'number' }, Number.NaN, 'must be a number'],
  [{ type: 'number', max: 5 }, 6, 'must be at most 5'],
  [{ type: 'number', min: 1 }, 0, 'must be at least 1'],
  [{ type: 'number' }, true, 'must be a number'],
  [{ type: 'boolean' }, 'true', true],
  [{ type: 'boolean' }, 'false', false],
  [{ type: 'boolean' }, false, false],
  [{ type: 'boolean' }, 'yes', 'must be true or false'],
  [{ type: 'boolean' }, 1, 'must be true or false'],
  [{ type: 'select', options: ['a', 'b'] }, 'b', 'b'],
  [{ type: 'select', options: ['a', 'b'] }, 'c', 'must be one of a, b'],
  [{ type: 'string' }, 12345, '12345'],
  [{ type: 'string' }, ['a'], 'must be a string'],
  [{ type: 'string', pattern: '^\\d+$', pattern_hint: 'digits' }, 'x1', 'must be digits'],
  [{ type: 'secret' }, 'top', 'top'],
  [{ type: 'secret' }, {}, 'must be a string'],
  [{ type: 'string', format: 'url' }, 'nowhere', 'must be an absolute http or https URL'],
  [{ type: 'string', format: 'header_name' }, 'X Sig', 'is not a valid header name'],
  [{ type: 'string', format: 'headers' }, { 'X-A': 'b' }, { 'X-A': 'b' }],
  [{ type: 'string', format: 'headers' }, '{"X-A":"b"}', { 'X-A': 'b' }],
  [{ type: 'string', format: 'headers' }, 'X-A: b', 'must be an object of header names and values'],
  [{ type: 'string', format: 'headers' }, { host: 'x' }, 'the header host may not be set'],
  [{ type: 'string', format: 'headers' }, { 'Content-Length': '1' }, 'the header Content-Length may not be set'],
  [{ type: 'string', format: 'headers' }, { 'Transfer-Encoding': 'x' }, 'the header Transfer-Encoding may not be set'],
  [{ type: 'string', format: 'headers' }, { 'X-A': 'a\r\nX-B: c' }, 'must not contain line breaks'],
  [{ type: 'string', format: 'headers' }, { 'X-A\n': 'a' }, 'is not a valid header name'],
  [{ type: 'string', format: 'headers' }, { 'X-A': 5 }, 'must be a string'],
  [{ type: 'string', format: 'headers' }, { 'X-A': '日本' }, 'must contain only printable characters'],
  [{ required: true }, undefined, 'is required'],
  [{ required: true }, null, 'is required'],
  [{ required: true }, '', 'is required'],
  [{ default: 'd' }, undefined, 'd'],
])('%j of %j gives %j', (over, value, expected) => {
  expect(read(over, value)).toEqual(expected);
});

test('parameters win, and faults name the place that was read', () => {
  expect(readFields([field({ type: 'number' })], { f: 1, parameters: { f: '2' } }, rules).values).toEqual({ f: 2 });
  expect(readFields([field({ type: 'number' })], { f: 1, parameters: { f: 'x' } }, rules).invalid[0]?.field).toBe('parameters.f');
});

test('a field that is there and wrong is not missing too', () => {
  const { missing, invalid } = readFields([field({ type: 'number', required: true })], { f: 'x' }, rules);
  expect([missing, invalid.length]).toEqual([[], 1]);
});

test('required only where another field says so', () => {
  const fields = [
    field({ key: 'kind', type: 'select', options: ['a', 'b'], default: 'a' }),
    field({ required_when: { field: 'kind', equals: 'b' } }),
  ];
  expect(readFields(fields, {}, rules).missing).toEqual([]);
  expect(readFields(fields, { kind: 'b' }, rules).missing).toEqual([{ field: 'f', message: 'is required' }]);
});

test('a placeholder stands for any value when saving, and for itself when compiling', () => {
  const fields = [field({ type: 'number', required: true, placeholder: '7' })];
  const config = { f: '{{pipeline_param.N}}' };
  expect(readFields(fields, config, { ...rules, placeholders: true })).toMatchObject({ values: { f: 7 }, missing: [], invalid: [] });
  expect(readFields(fields, config, rules).invalid).toEqual([{ field: 'f', message: 'must be a number' }]);
});

test('keys of the prototype are no fields', () => {
  expect(readFields([field({ key: 'toString' })], {}, rules).values).toEqual({});
});
