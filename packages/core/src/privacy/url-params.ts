/** Removes named parameters from every URL inside a text, and leaves every other byte as it is. */
import { decode } from '../context/query.ts';

export type UrlParamRemover = (text: string) => string;

/** URLs inside parameters of URLs: deeper nesting does not occur in practice. */
const MAX_DEPTH = 4;
const HASH = 35;
const AMPERSAND = 38;
const PERCENT = 37;
const PLUS = 43;
const EQUALS = 61;
const QUESTION = 63;

interface Unwanted {
  names: ReadonlySet<string>;
  /** Most names of other parameters differ in length already: no need to cut them out and fold their case. */
  lengths: ReadonlySet<number>;
}

export function compileUrlParams(names: readonly string[]): UrlParamRemover | undefined {
  if (names.length === 0) return undefined;
  const lower = names.map((name) => name.toLowerCase());
  const unwanted: Unwanted = { names: new Set(lower), lengths: new Set([...names, ...lower].map((name) => name.length)) };
  return (text) => (text.includes('=') ? clean(text, unwanted) : text);
}

function clean(text: string, unwanted: Unwanted): string {
  let out = '';
  let copied = 0;
  let end = 0;
  for (let mark = nextMark(text, 0); mark < text.length; mark = nextMark(text, end)) {
    end = queryEnd(text, mark + 1);
    const kept = cleanQuery(text, mark + 1, end, unwanted);
    if (kept === undefined) continue;
    out += text.slice(copied, mark);
    if (kept !== '') out += text[mark] + kept;
    copied = end;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

/** The query without its unwanted parameters; undefined where it has none. */
function cleanQuery(text: string, start: number, end: number, unwanted: Unwanted): string | undefined {
  let parts: string[] | undefined;
  for (let from = start; from <= end; ) {
    let to = from;
    while (to < end && text.charCodeAt(to) !== AMPERSAND) to += 1;
    const kept = keptUpTo(text, from, to, unwanted);
    if (kept < to && parts === undefined) parts = from > start ? [text.slice(start, from - 1)] : [];
    if (parts !== undefined && kept >= from) parts.push(text.slice(from, kept));
    from = to + 1;
  }
  return parts?.join('&');
}

/**
 * End of what stays of one parameter: `to` where all of it does, less than `from` where nothing does. A URL as the value, not
 * escaped, is cut at its own unwanted parameter.
 */
function keptUpTo(text: string, from: number, to: number, unwanted: Unwanted): number {
  let start = from;
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    let equals = -1;
    let inner = -1;
    for (let at = start; at < to && (equals < 0 || inner < 0); at++) {
      const code = text.charCodeAt(at);
      if (code === EQUALS && equals < 0) equals = at;
      else if (code === QUESTION && inner < 0) inner = at;
    }
    if (equals < 0) return to;
    if (equals > start && isUnwanted(text, start, equals, unwanted)) return start - 1;
    if (inner < 0) return to;
    start = inner + 1;
  }
  return to;
}

function isUnwanted(text: string, from: number, to: number, { names, lengths }: Unwanted): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === PERCENT || code === PLUS || code > 127) return names.has(decode(text.slice(from, to)).toLowerCase());
  }
  return lengths.has(to - from) && names.has(text.slice(from, to).toLowerCase());
}

/** Start of a query, or of a fragment: some pages use it like a query. */
function nextMark(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUESTION || code === HASH) return at;
  }
  return text.length;
}

/** `#`, white space, quotes and angle brackets end a query inside a text. */
function queryEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === HASH || code <= 32 || code === 34 || code === 60 || code === 62) break;
  }
  return at;
}
