import { Type } from '@firsthand/core/config/type.ts';
import { expect, test } from 'vitest';
import { missing } from './errors.ts';
import { compileStrict, faultsOf } from './validation.ts';

test.each([
  [Type.Integer({ minimum: 1 }), 0, 'must be at least 1'],
  [Type.Integer({ maximum: 5 }), 6, 'must be at most 5'],
  [Type.Number({ exclusiveMinimum: 0 }), 0, 'must be more than 0'],
  [Type.Number({ exclusiveMaximum: 1 }), 1, 'must be less than 1'],
  [Type.String({ minLength: 1 }), '', 'must not be empty'],
  [Type.String({ minLength: 12 }), 'short', 'must have at least 12 characters'],
  [Type.String({ maxLength: 1 }), 'long', 'must have at most 1 character'],
  [Type.Array(Type.String(), { minItems: 1 }), [], 'must not be empty'],
  [Type.Array(Type.String(), { minItems: 2 }), ['a'], 'must have at least 2 entries'],
  [Type.Array(Type.String(), { maxItems: 1 }), ['a', 'b'], 'must have at most 1 entry'],
  [Type.Array(Type.String(), { uniqueItems: true }), ['a', 'a'], 'must not have the same entry twice'],
  [Type.Object({}, { minProperties: 1 }), {}, 'must not be empty'],
  [Type.String({ format: 'date-time' }), 'yesterday', 'must be an ISO 8601 time with a zone, such as 2026-05-01T12:00:00Z'],
  [Type.String({ minLength: 1, 'x-fault': 'must be a name' }), '', 'must be a name'],
])('a fault is named in words: %j', (schema, value, message) => {
  const validate = compileStrict(Type.Object({ field: schema }));
  expect(validate({ field: value })).toBe(false);
  expect(faultsOf(validate.errors ?? [])).toEqual([{ field: 'field', message }]);
});

test('where one of several fields is missing, the fault stands at the first and names the others', () => {
  const { message, details } = missing('user_id', 'anonymous_id');
  expect([message, details]).toEqual([
    'user_id or anonymous_id is required.',
    [{ field: 'user_id', message: 'or anonymous_id is required' }],
  ]);
});
