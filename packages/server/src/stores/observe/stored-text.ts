/**
 * Texts of events as the columns for search hold them. PostgreSQL's text type holds neither NUL nor lone surrogates, and an entry of one of
 * its indexes at most 2,704 bytes: one row with more would fail the transaction of every organisation. Bodies are stored as bytes.
 */
import { hash } from 'node:crypto';
import { MAX_NAME_LENGTH } from '@firsthand/core/event/validate.ts';

/** Leaves room for the other columns of an index. */
const MAX_BYTES = 2_000;
export const MAX_REASON = 1_000;
const DIGEST = 64;
/** UTF-8 has at most three bytes for each unit of UTF-16. */
const fits = (text: string, bytes: number) => text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes;

export function storedReason(text: string): string {
  return withinBytes(cleanText(text.slice(0, MAX_REASON)), MAX_BYTES);
}
/** No index has names, except by their hash. */
export function storedName(text: string): string {
  return cleanText(text.slice(0, MAX_NAME_LENGTH));
}
/** A long id ends in its hash, so that no two become the same: an erasure removes the rows of one person. */
export function storedId(id: string): string {
  const text = cleanText(id);
  return fits(text, MAX_BYTES) ? text : `${withinBytes(text, MAX_BYTES - DIGEST - 3)}…${hash('sha256', text)}`;
}
/** The ids that a query asks for. */
export function storedIds({ user_id, anonymous_id }: { user_id?: string; anonymous_id?: string }) {
  return {
    ...(user_id !== undefined && { user_id: storedId(user_id) }),
    ...(anonymous_id !== undefined && { anonymous_id: storedId(anonymous_id) }),
  };
}
/** For an outcome, of an event that may have none. An event of an earlier version may have a number for a name. */
export function toldName(value: string | undefined): string | undefined {
  return value === undefined ? undefined : storedName(`${value}`);
}
export function toldId(value: string | undefined): string | undefined {
  return value === undefined ? undefined : storedId(`${value}`);
}
export function cleanText(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').toWellFormed();
}

function withinBytes(text: string, most: number): string {
  if (fits(text, most)) return text;
  const bytes = Buffer.from(text);
  let end = most;
  // Not inside a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
