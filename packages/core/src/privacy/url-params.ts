/** Takes named parameters out of every address in a text, and leaves every other byte as it was. */
import { decode } from '../context/query.ts';

export type UrlParamRemover = (text: string) => string;

/** Addresses inside parameters inside parameters: no real one goes deeper. */
const MAX_DEPTH = 4;

export function compileUrlParams(names: readonly string[]): UrlParamRemover | undefined {
  if (names.length === 0) return undefined;
  const unwanted = new Set(names.map((name) => name.toLowerCase()));
  return (text) => (text.includes('=') ? clean(text, unwanted, 0) : text);
}

function clean(text: string, unwanted: ReadonlySet<string>, depth: number): string {
  let out = '';
  let copied = 0;
  for (let mark = nextMark(text, 0); mark < text.length; mark = nextMark(text, copied)) {
    const end = queryEnd(text, mark + 1);
    const query = text.slice(mark + 1, end);
    const kept = cleanQuery(query, unwanted, depth);
    out += text.slice(copied, mark);
    if (kept !== '' || query === '') out += text[mark] + kept;
    copied = end;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

function cleanQuery(query: string, unwanted: ReadonlySet<string>, depth: number): string {
  if (!query.includes('=')) return query;
  const kept: string[] = [];
  for (const part of query.split('&')) {
    const equals = part.indexOf('=');
    if (equals > 0 && unwanted.has(decode(part.slice(0, equals)).toLowerCase())) continue;
    // An address as a value, not escaped: its parameters count as well.
    const inner = part.indexOf('?');
    kept.push(inner < 0 || depth >= MAX_DEPTH ? part : part.slice(0, inner) + clean(part.slice(inner), unwanted, depth + 1));
  }
  return kept.join('&');
}

/** A query, or a fragment, which some pages use like one. */
function nextMark(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 63 || code === 35) return at;
  }
  return text.length;
}

/** `#`, white space, quotes and angle brackets end a query inside a text. */
function queryEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 35 || code <= 32 || code === 34 || code === 60 || code === 62) break;
  }
  return at;
}
