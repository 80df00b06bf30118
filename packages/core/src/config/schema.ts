/** Building blocks for the schemas of resources. One schema validates, types and documents. */
import type { Static, TObject, TOptional, TProperties, TSchema, TUnsafe } from 'typebox';
import type { JsonObject } from '../json.ts';
import { Type } from './type.ts';

/** Gives a schema its own entry under `components.schemas` of the OpenAPI document. */
export function named<T extends TSchema>(name: string, schema: T): T {
  return { ...schema, 'x-component': name };
}

/** A plain `enum`. A union of literals would report one fault for each member. */
export function OneOf<const T extends string>(values: readonly T[], options: Record<string, unknown> = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...options });
}
/** `type: [x, "null"]`, for the same reason. */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const { type, enum: members, ...rest } = schema as TSchema & { type?: string; enum?: unknown[] };
  return Type.Unsafe<Static<T> | null>({
    ...rest,
    type: [type, 'null'],
    ...(members === undefined ? {} : { enum: [...members, null] }),
  });
}

/** A name that a person chooses. */
export const Name = (options: Record<string, unknown> = {}) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', 'x-fault': 'must be 1 to 200 characters, not only blanks', ...options });
export const Text = (maxLength: number, options: Record<string, unknown> = {}) => Type.String({ maxLength, ...options });
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-05-01T12:00:00.000Z'] });
export const Id = (prefix: string, description?: string) =>
  Type.String({ ...(description === undefined ? {} : { description }), examples: [`${prefix}_01jv0g3m5w8k2d7c9q4r6t1x0z`] });
/** Any JSON object. */
export const AnyObject = (options: Record<string, unknown> = {}) =>
  Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true, ...options });

/** A closed object: an unknown field is a fault. */
export function Closed<T extends TProperties>(properties: T, options: Record<string, unknown> = {}): TObject<T> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}
/** A request body: closed. Fields in `readOnly` are ignored, so that a client can send back an object that it read. */
export function Body<T extends TProperties>(
  properties: T,
  readOnly: readonly string[] = [],
  options: Record<string, unknown> = {},
): TObject<T> {
  return Closed(properties, { ...(readOnly.length > 0 ? { 'x-read-only': [...readOnly] } : {}), ...options });
}
export function AllOptional<T extends TProperties>(properties: T): { [K in keyof T]: TOptional<T[K]> } {
  return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, Type.Optional(schema)])) as {
    [K in keyof T]: TOptional<T[K]>;
  };
}
export function pick<T extends TProperties, K extends keyof T & string>(properties: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, properties[key]])) as Pick<T, K>;
}
