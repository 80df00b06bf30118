/** Columns of a table and the values that fit them. One number type: JSON has one, so `42` and `42.5` never conflict. */
import { parseTimestamp } from '../event/timestamp.ts';
import type { Json } from '../json.ts';
import { RawJson } from '../shallow-json.ts';

/** `integer` exists only in tables that others made. */
export type ColumnType = 'boolean' | 'integer' | 'number' | 'timestamp' | 'text' | 'json';
/** The types of columns that are added. */
export type AddedType = Exclude<ColumnType, 'integer'>;

export interface Column {
  name: string;
  /** `other`: a type without a rule. The value is sent as text and the destination converts it. */
  type: ColumnType | 'other';
  /** As the destination names the type. */
  sql: string;
  /** The longest text in characters, or the largest absolute integer. */
  max?: number;
}

/** One value, as a destination receives it. Timestamps and JSON are texts. */
export type Cell = string | number | boolean | null;

const ZONED = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?\s?(Z|z|[+-]\d\d:?\d\d)$/;

/** Milliseconds since 1970 of a date and time with a zone. Without a zone the instant is unknown, so the text stays a text. */
export function instantOf(value: FieldValue | null): number | undefined {
  if (typeof value !== 'string' || value.length < 17 || value.length > 40 || !ZONED.test(value)) return undefined;
  return parseTimestamp(value);
}

/** A value for a cell. Objects and lists may come as their JSON text. */
export type FieldValue = Exclude<Json, null> | RawJson;

/** The type of a column made for this value. */
export function typeOf(value: FieldValue): AddedType {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return 'number';
    case 'string':
      return instantOf(value) === undefined ? 'text' : 'timestamp';
    default:
      return 'json';
  }
}

/** What no database can store in a text: U+0000, also escaped inside JSON, and half a surrogate pair. */
export function cleanText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole;
}
export function cleanJson(value: FieldValue | null): string {
  const text = value instanceof RawJson ? value.text : JSON.stringify(value);
  // Half pairs are escaped by JSON.stringify as \udXXX.
  return text.includes('\\u') ? text.replace(ESCAPED, (_, before: string) => `${before}\\ufffd`) : text;
}
const ESCAPED = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

export function textOf(value: FieldValue): string {
  return typeof value === 'string' ? cleanText(value) : typeof value === 'object' ? cleanJson(value) : String(value);
}
