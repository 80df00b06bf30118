/** Schemas that routes share: pages, times in queries, ids in paths. */

import { Type } from '@firsthand/core/config/type.ts';
import type { TSchema } from 'typebox';
import { invalid } from './errors.ts';
import { restoreZoneSign } from './query-time.ts';

const WHOLE = { minimum: 0, 'x-fault': 'must be a whole number, 0 or more' };
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      ...WHOLE,
      default: 50,
      description: 'At most 100; a greater one is served as 100. Large entries (2 MB together) make a shorter page.',
    }),
  ),
  offset: Type.Optional(Type.Integer({ ...WHOLE, default: 0, description: 'For the next page, add the number of entries received.' })),
};
const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 50;
export function pageOf(query: { limit?: number; offset?: number }): { limit: number; offset: number } {
  return {
    limit: Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT),
    offset: Math.min(query.offset ?? 0, Number.MAX_SAFE_INTEGER),
  };
}
/** Ids in a query, with commas between them. */
export const IdsQuery = (description: string) =>
  Type.String({ minLength: 1, maxLength: 10_000, description: `${description} Ids with commas between them, at most 100.` });
export function idsOf(field: string, text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const ids = [...new Set(text.split(',').map((id) => id.trim()))].filter((id) => id !== '');
  if (ids.length === 0 || ids.length > MAX_LIMIT) throw invalid(field, `must be 1 to ${MAX_LIMIT} ids with commas between them`);
  return ids;
}
export function ListOf<K extends string, T extends TSchema>(plural: K, item: T) {
  return Type.Object({ [plural]: Type.Array(item), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() } as Record<
    K,
    ReturnType<typeof Type.Array<T>>
  > & { total: ReturnType<typeof Type.Integer>; limit: ReturnType<typeof Type.Integer>; offset: ReturnType<typeof Type.Integer> });
}
/** A time in a query: `2026-05-01T12:00:00Z`, or a date. */
export const TimeQuery = (description: string) =>
  Type.String({ description: `${description} A date without a time is that whole day (UTC).`, examples: ['2026-05-01T00:00:00.000Z'] });
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;
/** Normalises to the stored format, so that text comparison equals time comparison. */
export function timeOf(field: string, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const text = restoreZoneSign(given);
  const ms = TIME.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw invalid(field, 'must be an ISO 8601 time with a zone, or a date');
  return new Date(ms).toISOString();
}
/** `Date.parse` accepts 30 February as 2 March. */
function isDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}
export const IdParams = Type.Object({ id: Type.String() });
