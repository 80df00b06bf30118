/**
 * The texts at the top level of a stored event that name its folder, key and order. Reading them from the bytes takes a fraction of parsing
 * the event, and allocates almost nothing.
 */
import type { EventHead } from '@firsthand/core/event/canonical.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

const FIELDS = ['event_id', 'type', 'event', 'anonymous_id', 'user_id', 'timestamp'] as const;
type Field = (typeof FIELDS)[number];
const NAMES = FIELDS.map((field) => ({ field, bytes: Buffer.from(field) }));
const FIRST_BYTES = new Set(NAMES.map(({ bytes }) => bytes[0]));

/**
 * From `start` on `json` is an object as `JSON.stringify` writes it. Undefined where it has another form, or where one of the fields is not
 * a plain text.
 */
export function readEventHead(json: Buffer, start = 0): EventHead | undefined {
  if (json[start] !== OPEN_OBJECT) return undefined;
  const found: Partial<Record<Field, string>> = {};
  let at = start + 1;
  while (json[at] === QUOTE) {
    const keyEnd = stringEnd(json, at);
    if (json[keyEnd] !== COLON) return undefined;
    const field = fieldAt(json, at + 1, keyEnd - 1);
    const value = keyEnd + 1;
    const end = valueEnd(json, value);
    if (field !== undefined) {
      if (json[value] !== QUOTE) return undefined;
      const text = json.toString('utf8', value + 1, end - 1);
      // An escape is left to the parser.
      if (text.includes('\\')) return undefined;
      found[field] = text;
    }
    if (json[end] === CLOSE_OBJECT) return isHead(found) ? found : undefined;
    if (json[end] !== COMMA) return undefined;
    at = end + 1;
  }
  return undefined;
}

const TIMESTAMP = Buffer.from('"timestamp":"');

/** Like `readEventHead`, for the timestamp alone: it is one of the first fields, so the rest of the event is not read. */
export function readTimestamp(json: Buffer, start = 0): string | undefined {
  if (json[start] !== OPEN_OBJECT) return undefined;
  let at = start + 1;
  while (json[at] === QUOTE) {
    if (startsAt(json, at, TIMESTAMP)) {
      const from = at + TIMESTAMP.length;
      const end = stringEnd(json, from - 1);
      const text = json.toString('latin1', from, end - 1);
      // Escapes and characters beyond ASCII are left to the parser; no time has them.
      return end <= json.length && /^[\w:.+-]+$/.test(text) ? text : undefined;
    }
    const keyEnd = stringEnd(json, at);
    if (json[keyEnd] !== COLON) return undefined;
    const end = valueEnd(json, keyEnd + 1);
    if (json[end] !== COMMA) return undefined;
    at = end + 1;
  }
  return undefined;
}

function startsAt(json: Buffer, at: number, bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) if (json[at + i] !== bytes[i]) return false;
  return true;
}

function isHead(found: Partial<Record<Field, string>>): found is EventHead {
  return found.event_id !== undefined && found.type !== undefined && found.timestamp !== undefined;
}

function fieldAt(json: Buffer, from: number, to: number): Field | undefined {
  if (!FIRST_BYTES.has(json[from])) return undefined;
  for (const { field, bytes } of NAMES)
    if (bytes.length === to - from && json.compare(bytes, 0, bytes.length, from, to) === 0) return field;
  return undefined;
}

/** The index after the closing quote of the text that starts at `at`. */
function stringEnd(json: Buffer, at: number): number {
  let end = at + 1;
  while (end < json.length && json[end] !== QUOTE) end += json[end] === BACKSLASH ? 2 : 1;
  return end + 1;
}

/** The index after the value that starts at `at`. */
function valueEnd(json: Buffer, at: number): number {
  if (json[at] === QUOTE) return stringEnd(json, at);
  let depth = 0;
  let end = at;
  while (end < json.length) {
    const byte = json[end];
    if (byte === QUOTE) {
      end = stringEnd(json, end);
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      // The end of the event itself.
      if (depth === 0) return end;
      depth--;
    } else if (byte === COMMA && depth === 0) return end;
    end++;
  }
  return end;
}
