/**
 * The builders of JSON Schema that we use, typed by TypeBox, which infers the types of values from them. Its own builders come with a
 * compiler of types: 190 modules, a tenth of a second of every start and 5 MB.
 */
import type { Type as TypeBox } from 'typebox';

type Schema = Record<string, unknown>;
type Builders = 'Array' | 'Boolean' | 'Integer' | 'Literal' | 'Null' | 'Number' | 'Object' | 'Optional' | 'Record' | 'String' | 'Union';

/** Of a property that may be missing. Not enumerable: it is no part of the schema. */
const OPTIONAL = '~optional';
const any = (options: Schema = {}): Schema => ({ ...options });
const plain =
  (type: string) =>
  (options: Schema = {}): Schema => ({ type, ...options });

function object(properties: Record<string, Schema>, options: Schema = {}): Schema {
  const required = Object.keys(properties).filter((key) => !(OPTIONAL in properties[key]!));
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
}
/** Every key has the pattern of `key`. */
function record(key: Schema, value: Schema, options: Schema = {}): Schema {
  return { type: 'object', patternProperties: { [String(key.pattern ?? '^.*$')]: value }, ...options };
}

export const Type = {
  Array: (items: Schema, options: Schema = {}) => ({ type: 'array', items, ...options }),
  Boolean: plain('boolean'),
  Integer: plain('integer'),
  Literal: (value: unknown, options: Schema = {}) => ({ type: typeof value, const: value, ...options }),
  Null: plain('null'),
  Number: plain('number'),
  Object: object,
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  Record: record,
  String: plain('string'),
  Union: (anyOf: readonly Schema[], options: Schema = {}) => ({ anyOf, ...options }),
  Unknown: any,
  Unsafe: any,
  // TypeBox knows the type of each schema; type.test.ts compares what both build.
} as unknown as Pick<typeof TypeBox, Builders | 'Unknown' | 'Unsafe'>;
