/**
 * Texts with references, as definitions write them (see definition.ts). Config fields are resolved when the vendor is compiled. The rest
 * is a short list of parts, joined per item or per request.
 */
import { isObject, own } from '../json.ts';
import { isQuotaSpent, mayWrite } from '../value-size.ts';

const REFERENCE = /\{\{\s*([a-z]+)\.([^{}\s|]+)\s*(\|\s*path\s*)?\}\}/g;
const ITEM_SOURCES = ['event', 'payload', 'lane', 'item'];
const REQUEST_SOURCES = ['request', 'body', 'date', 'steps', 'job'];

export interface Part {
  source: string;
  path: string[];
  encode: ((text: string) => string) | undefined;
}
export interface Text {
  parts: (string | Part)[];
  /** The text itself when nothing is left to resolve. */
  constant: string | undefined;
  /** Items with different values must not share a request. */
  per_item: boolean;
}

/** Sources by name: `{event, payload, lane, item}` for items, `{request, body, date}` for requests. */
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
    const [whole, source = '', path = '', slashes] = match;
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
  return textOf(parts);
}

/** Named texts. Those that are always empty are left out. */
export function textsOf(texts: Record<string, string> | undefined, parameters: Record<string, unknown>): [string, Text][] {
  return Object.entries(texts ?? {})
    .map(([name, text]): [string, Text] => [name, compileText(text, parameters)])
    .filter(([, text]) => text.constant !== '');
}

/** A single reference without the braces: `payload.items`. */
export function compileReference(path: string): { text: Text; part: Part } {
  const [source = '', ...steps] = path.split('.');
  const part: Part = { source, path: steps, encode: undefined };
  return { text: textOf([part]), part };
}

function textOf(parts: (string | Part)[]): Text {
  const dynamic = parts.filter((part) => typeof part !== 'string');
  const [first = ''] = parts;
  return {
    parts,
    constant: dynamic.length === 0 && typeof first === 'string' ? first : undefined,
    per_item: dynamic.some((part) => ITEM_SOURCES.includes(part.source)),
  };
}

/** Whether every reference can be resolved from the item alone, before the request exists. */
export function isItemOnly(text: Text): boolean {
  return text.parts.every((part) => typeof part === 'string' || ITEM_SOURCES.includes(part.source));
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

/** The item references of a text, rendered. Two items may share a request only if their keys are equal. */
export function itemKey(text: Text, sources: Sources): string {
  let out = '';
  for (const part of text.parts) if (typeof part !== 'string' && ITEM_SOURCES.includes(part.source)) out += `${lookUp(part, sources)}\n`;
  return out;
}

/** The text with its item references resolved, and `otherwise` for every other reference. */
export function itemText(text: Text, sources: Sources, otherwise: string): string {
  const resolve = (part: Part) => {
    if (!ITEM_SOURCES.includes(part.source)) return otherwise;
    const found = lookUp(part, sources);
    return part.encode ? part.encode(found) : found;
  };
  return text.parts.map((part) => (typeof part === 'string' ? part : resolve(part))).join('');
}

function lookUp(part: Part, sources: Sources): string {
  // Without quota the item fails as a whole.
  const text = isQuotaSpent() ? '' : toText(lookUpValue(part.path, own(sources, part.source)));
  if (!mayWrite(text.length)) return '';
  // encodeURIComponent throws on a lone surrogate, which an event may contain.
  return part.encode ? text.toWellFormed() : text;
}

export function lookUpValue(path: readonly string[], from: unknown): unknown {
  let value = from;
  for (const step of path) value = isObject(value) ? own(value, step) : undefined;
  return value;
}

export function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function encodePath(text: string): string {
  return text.split('/').map(encodeURIComponent).join('/');
}
