/**
 * Texts with references, as definitions write them (see definition.ts). Config fields are put in when the vendor is compiled;
 * what is left is a short list of parts, joined per item or per request.
 */
import { isObject, own } from '../json.ts';

const REFERENCE = /\{\{\s*([a-z]+)\.([^{}\s|]+)\s*(\|\s*path\s*)?\}\}/g;
const ITEM_SOURCES = ['event', 'payload', 'lane'];
const REQUEST_SOURCES = ['request', 'body', 'date'];

export interface Part {
  source: string;
  path: string[];
  encode: ((text: string) => string) | undefined;
}
export interface Text {
  parts: (string | Part)[];
  /** The text itself where nothing is left to resolve. */
  constant: string | undefined;
  /** Whether items that differ must not share a request. */
  per_item: boolean;
}

/** Sources by name: `{event, payload, lane}` for items, `{request, body, date}` for requests. */
export type Sources = Record<string, unknown>;

export function compileText(text: string, parameters: Record<string, unknown>, options: { url?: boolean } = {}): Text {
  const parts: (string | Part)[] = [];
  let at = 0;
  const push = (literal: string) => {
    if (literal === '') return;
    const last = parts.at(-1);
    if (typeof last === 'string') parts[parts.length - 1] = last + literal;
    else parts.push(literal);
  };
  for (const match of text.matchAll(REFERENCE)) {
    const [whole, source, path, slashes] = match as unknown as [string, string, string, string | undefined];
    push(text.slice(at, match.index));
    at = match.index + whole.length;
    const encode = options.url !== true || match.index === 0 ? undefined : slashes ? encodePath : encodeURIComponent;
    if (source === 'parameters') {
      const value = toText(own(parameters, path));
      push(encode ? encode(value.toWellFormed()) : value);
    } else if (ITEM_SOURCES.includes(source) || REQUEST_SOURCES.includes(source)) {
      parts.push({ source, path: path.split('.'), encode });
    } else {
      push(whole); // a pipeline parameter that is missing stays as written
    }
  }
  push(text.slice(at));
  const dynamic = parts.filter((part) => typeof part !== 'string');
  return {
    parts,
    constant: dynamic.length === 0 ? ((parts[0] as string | undefined) ?? '') : undefined,
    per_item: dynamic.some((part) => ITEM_SOURCES.includes(part.source)),
  };
}

export function renderText(text: Text, sources: Sources): string {
  if (text.constant !== undefined) return text.constant;
  let out = '';
  for (const part of text.parts) {
    if (typeof part === 'string') out += part;
    else out += part.encode ? part.encode(lookUp(part, sources)) : lookUp(part, sources);
  }
  return out;
}

/** The references of a text that concern items, rendered: equal for two items that may share a request. */
export function itemKey(text: Text, sources: Sources): string {
  let out = '';
  for (const part of text.parts) if (typeof part !== 'string' && ITEM_SOURCES.includes(part.source)) out += `${lookUp(part, sources)}\n`;
  return out;
}

/** The text with what concerns items put in, and `otherwise` for every other reference. */
export function itemText(text: Text, sources: Sources, otherwise: string): string {
  const resolve = (part: Part) => {
    if (!ITEM_SOURCES.includes(part.source)) return otherwise;
    const found = lookUp(part, sources);
    return part.encode ? part.encode(found) : found;
  };
  return text.parts.map((part) => (typeof part === 'string' ? part : resolve(part))).join('');
}

function lookUp(part: Part, sources: Sources): string {
  let value: unknown = own(sources, part.source);
  for (const step of part.path) value = isObject(value) ? own(value, step) : undefined;
  const text = toText(value);
  // encodeURIComponent throws on a lone surrogate, which an event may carry.
  return part.encode ? text.toWellFormed() : text;
}

export function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function encodePath(text: string): string {
  return text.split('/').map(encodeURIComponent).join('/');
}
