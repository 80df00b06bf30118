/**
 * The top level of a JSON object, with nested objects and lists left as text. A destination that stores them as JSON gets that text:
 * parsing and writing it again would cost several times as much, most of it in garbage collection.
 */
import type { Json, JsonObject } from './json.ts';

/** An object or a list as its JSON text. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  parsed(): JsonObject | Json[] {
    return JSON.parse(this.text) as JsonObject | Json[];
  }
}
/** The value in full. */
export function deepValue<T>(value: T | RawJson): T | JsonObject | Json[] {
  return value instanceof RawJson ? value.parsed() : value;
}
export type ShallowValue = string | number | boolean | null | RawJson;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/** The names of the last object. The next one mostly has the same, and shared texts need no new hash at every lookup. */
const lastNames: string[] = [];
const MAX_REMEMBERED = 64;

/** `json`: an object as `JSON.stringify` writes it. Undefined where it has another form. */
export function shallowFields(json: string): [name: string, value: ShallowValue][] | undefined {
  if (json === '{}') return [];
  if (json.charCodeAt(0) !== OPEN_OBJECT) return undefined;
  const fields: [string, ShallowValue][] = [];
  for (let at = 1; json.charCodeAt(at) === QUOTE; ) {
    const name = nameAt(json, at, fields.length);
    const keyEnd = name === undefined ? stringEnd(json, at) : at + name.length + 2;
    if (json.charCodeAt(keyEnd) !== COLON) return undefined;
    const from = keyEnd + 1;
    const end = valueEnd(json, from);
    const value = valueAt(json, from, end);
    if (value === undefined) return undefined;
    fields.push([name ?? rememberedName(json, at, keyEnd, fields.length), value]);
    const next = json.charCodeAt(end);
    if (next === CLOSE_OBJECT) return end === json.length - 1 ? fields : undefined;
    if (next !== COMMA) return undefined;
    at = end + 1;
  }
  return undefined;
}

function nameAt(json: string, at: number, index: number): string | undefined {
  const last = lastNames[index];
  return last !== undefined && json.startsWith(last, at + 1) && json.charCodeAt(at + 1 + last.length) === QUOTE ? last : undefined;
}
function rememberedName(json: string, at: number, end: number, index: number): string {
  const raw = json.slice(at + 1, end - 1);
  if (raw.includes('\\')) return JSON.parse(json.slice(at, end)) as string;
  if (index < MAX_REMEMBERED && index <= lastNames.length && raw.length <= MAX_REMEMBERED) lastNames[index] = raw;
  return raw;
}

function valueAt(json: string, from: number, end: number): ShallowValue | undefined {
  const first = json.charCodeAt(from);
  if (first === OPEN_OBJECT || first === OPEN_LIST) return new RawJson(json.slice(from, end));
  const raw = json.slice(from, end);
  try {
    return first === QUOTE && !raw.includes('\\') ? raw.slice(1, -1) : (JSON.parse(raw) as ShallowValue);
  } catch {
    return undefined;
  }
}

/** The index after the closing quote of the text that starts at `at`. */
function stringEnd(json: string, at: number): number {
  for (let end = json.indexOf('"', at + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return json.length;
}

/** The index after the value that starts at `at`. */
function valueEnd(json: string, at: number): number {
  if (json.charCodeAt(at) === QUOTE) return stringEnd(json, at);
  let depth = 0;
  let end = at;
  while (end < json.length) {
    const code = json.charCodeAt(end);
    if (code === QUOTE) {
      end = stringEnd(json, end);
      continue;
    }
    if (code === OPEN_OBJECT || code === OPEN_LIST) depth++;
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      // The end of the object itself.
      if (depth === 0) return end;
      depth--;
    } else if (code === COMMA && depth === 0) return end;
    end++;
  }
  return end;
}
