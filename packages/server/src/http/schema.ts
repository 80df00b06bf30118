/** The few schema shapes that routes share. One schema validates, types and documents. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { type Static, type TObject, type TOptional, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';

import { invalid } from './errors.ts';

/** A plain `enum`: a union of literals would report one fault for each member. */
export function OneOf<const T extends string>(values: readonly T[], options: Record<string, unknown> = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...options });
}
/** `type: [x, "null"]`, for the same reason. */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const { type, enum: members, ...rest } = schema as unknown as { type: string; enum?: unknown[] };
  return Type.Unsafe<Static<T> | null>({
    ...rest,
    type: [type, 'null'],
    ...(members === undefined ? {} : { enum: [...members, null] }),
  });
}

/** A name a person gives: not empty, not only blanks. */
export const Name = (options: Record<string, unknown> = {}) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', 'x-fault': 'must be 1 to 200 characters, not only blanks', ...options });
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-05-01T12:00:00.000Z'] });
export const Id = (prefix: string) => Type.String({ examples: [`${prefix}_01jv0g3m5w8k2d7c9q4r6t1x0z`] });
/** Any JSON object. */
export const AnyObject = (options: Record<string, unknown> = {}) =>
  Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true, ...options });

/** A closed object: an unknown field is a fault. */
export function Closed<T extends TProperties>(properties: T, options: Record<string, unknown> = {}): TObject<T> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}
/** A body: closed, except for the resource's own read-only fields, which are dropped so that an object that was read can be sent back. */
export function Body<T extends TProperties>(
  properties: T,
  readOnly: readonly string[] = [],
  options: Record<string, unknown> = {},
): TObject<T> {
  return Closed(properties, { ...(readOnly.length > 0 ? { 'x-read-only': [...readOnly] } : {}), ...options });
}
/** For PUT: every field may be left out. */
export function AllOptional<T extends TProperties>(properties: T): { [K in keyof T]: TOptional<T[K]> } {
  return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, Type.Optional(schema)])) as {
    [K in keyof T]: TOptional<T[K]>;
  };
}

const WHOLE = { minimum: 0, 'x-fault': 'must be a whole number, 0 or more' };
export const PageQuery = {
  limit: Type.Optional(Type.Integer({ ...WHOLE, default: 50, description: 'At most 100; a greater one is served as 100.' })),
  offset: Type.Optional(Type.Integer({ ...WHOLE, default: 0 })),
};
const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 50;
export function pageOf(query: { limit?: number; offset?: number }): { limit: number; offset: number } {
  return {
    limit: Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT),
    offset: Math.min(query.offset ?? 0, Number.MAX_SAFE_INTEGER),
  };
}
export function ListOf<K extends string, T extends TSchema>(plural: K, item: T) {
  return Type.Object({ [plural]: Type.Array(item), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() } as Record<
    K,
    ReturnType<typeof Type.Array<T>>
  > & { total: ReturnType<typeof Type.Integer>; limit: ReturnType<typeof Type.Integer>; offset: ReturnType<typeof Type.Integer> });
}
/** A moment in a query: `2026-05-01T12:00:00Z`, or a day. */
export const TimeQuery = (description: string) => Type.String({ description, examples: ['2026-05-01T00:00:00.000Z'] });
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;
/** In the one form that is stored, so that text compares as time does. */
export function timeOf(field: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const ms = TIME.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw invalid(field, 'must be an ISO 8601 time with a zone, or a date');
  return new Date(ms).toISOString();
}
/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}
export const IdParams = Type.Object({ id: Type.String() });
