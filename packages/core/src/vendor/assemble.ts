/** From items to a request: body, URL, headers, signature. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { CompiledAuth } from './auth.ts';
import type { CompiledBody } from './body.ts';
import { fromUtf8, utf8 } from './bytes.ts';
import type { RequestContext, VendorItem, VendorRequest } from './compiled.ts';
import type { RequestDefinition } from './definition.ts';
import { setHeader } from './header-rules.ts';
import { renderText, type Sources, type Text } from './text.ts';

/** What `build` hands to `request` inside an item. */
export interface Prepared {
  /** In bytes where it came so. */
  text: string | Uint8Array;
  /** Undefined where nobody asks for the date. */
  timestamp: string | undefined;
  sources?: Sources;
}
export interface Head {
  fixed: Record<string, string>;
  dynamic: [string, Text][];
}
export interface Build {
  method: string;
  definition: RequestDefinition;
  options: { gzip?: (data: Uint8Array) => Uint8Array };
  url: Text;
  queries: (readonly [string, Text])[];
  body: CompiledBody;
  head: Head;
  auth: CompiledAuth;
  /** Texts that keep items apart. */
  keyed: Text[];
  /** Which sources the texts refer to: the others are not worked out. */
  uses: ReadonlySet<string>;
  /** A request of one item is still a list. */
  listed: boolean;
}

export function usesOf(texts: readonly Text[]): ReadonlySet<string> {
  return new Set(texts.flatMap(({ parts }) => parts.map((part) => (typeof part === 'string' ? '' : part.source))));
}

export function assemble(build: Build, items: VendorItem[], context: RequestContext): VendorRequest {
  const { body, head, auth, definition, options, uses } = build;
  const prepared = items.map((item) => item.payload as Prepared);
  const sources = sourcesOf(build, prepared, context);
  const first = prepared[0]?.text;
  const asIs = body.json && !build.listed && first instanceof Uint8Array ? first : undefined;
  const text = asIs ? undefined : body.assemble(prepared.map(textOf), build.listed, sources);
  const compressed = definition.compression === 'gzip';
  // Whoever signs or hashes does so over the very bytes that are sent.
  let bytes = asIs ?? (text !== undefined && (auth.sign || compressed || uses.has('body')) ? utf8(text) : undefined);
  if (uses.has('body') && bytes) sources.body = { sha256: bytesToHex(sha256(bytes)) };
  const url = urlOf(build, sources, body.in_query && prepared[0] ? textOf(prepared[0]) : undefined);
  const headers = { ...head.fixed };
  for (const [name, value] of head.dynamic) setHeader(headers, name, headerText(renderText(value, sources)));
  if (compressed && bytes && options.gzip) {
    bytes = options.gzip(bytes);
    setHeader(headers, 'Content-Encoding', 'gzip');
  }
  if (auth.token && context.access_token !== undefined) setHeader(headers, 'Authorization', `Bearer ${context.access_token}`);
  auth.sign?.({ method: build.method, url, headers, body: bytes ?? new Uint8Array(0) }, context);
  const content = bytes ?? text;
  return { method: build.method, url, headers, ...(content === undefined ? {} : { body: content }) };
}

function textOf({ text }: Prepared): string {
  return typeof text === 'string' ? text : fromUtf8(text);
}

function sourcesOf({ uses }: Build, prepared: Prepared[], context: RequestContext): Sources {
  const sources: Sources = { ...prepared[0]?.sources };
  if (uses.has('request'))
    sources.request = { id: context.request_id, attempt: context.attempt, timestamp: Math.floor(context.now / 1000) };
  if (uses.has('date')) sources.date = dateParts(prepared[0]?.timestamp, context.now);
  return sources;
}

function urlOf({ url, queries }: Build, sources: Sources, payloadQuery: string | undefined): string {
  let out = renderText(url, sources);
  let separator = out.includes('?') ? '&' : '?';
  for (const [name, text] of queries) {
    const value = renderText(text, sources);
    if (value === '') continue;
    out += `${separator}${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`;
    separator = '&';
  }
  return payloadQuery ? `${out}${separator}${payloadQuery}` : out;
}

/** Of the event, not of the clock: a retry on the next day must overwrite the same object. */
function dateParts(timestamp: string | undefined, now: number): Record<string, string> {
  const ms = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  const iso = new Date(Number.isNaN(ms) ? now : ms).toISOString();
  const [, year = '', month = '', day = '', hour = ''] = /^([+-]?\d+)-(\d\d)-(\d\d)T(\d\d)/.exec(iso) ?? [];
  return { year, month, day, hour };
}

/** A value from an event must not break out of its header. */
function headerText(value: string): string {
  return value.replace(/[^\t\x20-\x7e]/gu, (char) => encodeURIComponent(char.toWellFormed()));
}
