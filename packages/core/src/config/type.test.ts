import { Type as TypeBox } from 'typebox';
import { expect, test } from 'vitest';
import { Type } from './type.ts';

const options = { description: 'With options.', examples: ['a'] };
const SCHEMAS: Record<string, (type: typeof Type) => unknown> = {
  text: (type) => type.String({ minLength: 1, ...options }),
  number: (type) => type.Number({ minimum: 0 }),
  integer: (type) => type.Integer(),
  boolean: (type) => type.Boolean({ default: false }),
  null: (type) => type.Null(options),
  'anything at all': (type) => type.Unknown(options),
  'what is written out': (type) => type.Unsafe<string>({ type: 'string', enum: ['a', 'b'], ...options }),
  'a constant': (type) => type.Literal('a', options),
  'a constant that is no text': (type) => type.Literal(true),
  list: (type) => type.Array(type.Integer(), { maxItems: 3 }),
  'one of several': (type) => type.Union([type.String(), type.Null()], options),
  'any keys': (type) => type.Record(type.String(), type.Integer(), options),
  'keys of a pattern': (type) => type.Record(type.String({ pattern: '^[a-z]+$' }), type.Boolean()),
  object: (type) =>
    type.Object(
      { id: type.String(), more: type.Optional(type.Object({ at: type.Optional(type.Integer()) })), last: type.Null() },
      { additionalProperties: false },
    ),
  'object without properties': (type) => type.Object({}),
};

test.each(Object.entries(SCHEMAS))('%s: as TypeBox builds it, to the order of its keys', (_, build) => {
  expect(JSON.stringify(build(Type))).toBe(JSON.stringify(build(TypeBox as unknown as typeof Type)));
});

test('a schema that is optional in one object is required in another', () => {
  const text = Type.String();
  const optional = Type.Optional(text);
  expect(Type.Object({ a: text, b: optional })).toMatchObject({ required: ['a'] });
  expect(Object.keys(optional)).toEqual(['type']);
});
