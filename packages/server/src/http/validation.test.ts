import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { missing } from './errors.ts';
import { compileStrict, faultsOf } from './validation.ts';

const validate = compileStrict(
  Type.Object({
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 3 })),
    code: Type.Optional(Type.String({ minLength: 2 })),
    labels: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 2 })),
    rate: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    share: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    parameters: Type.Optional(Type.Record(Type.String(), Type.String(), { maxProperties: 1 })),
    expires_at: Type.Optional(Type.String({ format: 'date-time' })),
    threshold: Type.Optional(Type.Integer({ minimum: 0, 'x-fault': 'must be a whole number, 0 or more' })),
  }),
);

test.each([
  [{ name: '' }, 'name', 'must not be empty'],
  [{ name: 'long' }, 'name', 'must have at most 3 characters'],
  [{ code: 'x' }, 'code', 'must have at least 2 characters'],
  [{ labels: [] }, 'labels', 'must not be empty'],
  [{ labels: ['a', ''] }, 'labels[1]', 'must not be empty'],
  [{ labels: ['a', 'b', 'c'] }, 'labels', 'must have at most 2 entries'],
  [{ rate: 0 }, 'rate', 'must be at least 1'],
  [{ rate: 11 }, 'rate', 'must be at most 10'],
  [{ share: 0 }, 'share', 'must be greater than 0'],
  [{ parameters: { a: '', b: '' } }, 'parameters', 'must have at most 1 keys'],
  [{ expires_at: '2030-01-01' }, 'expires_at', 'must be an ISO 8601 time with a zone'],
  [{ threshold: -1 }, 'threshold', 'must be a whole number, 0 or more'],
])('a value outside of its limits is refused in plain words: %j', (body, field, message) => {
  expect(validate(body)).toBe(false);
  expect(faultsOf(validate.errors ?? [])).toEqual([{ field, message }]);
});

test('where one of several fields is missing, the fault stands at the first and names the others', () => {
  const { message, details } = missing('user_id', 'anonymous_id');
  expect([message, details]).toEqual([
    'user_id or anonymous_id is required.',
    [{ field: 'user_id', message: 'or anonymous_id is required' }],
  ]);
});
