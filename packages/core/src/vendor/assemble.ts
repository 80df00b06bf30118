/** Items → request: body, URL, headers, signature. */
import { sha256Hex } from '../hash/hash.ts';
import type { CompiledAuth } from './auth.ts';
import type { CompiledBody } from './body.ts';
import { fromUtf8, utf8 } from './bytes.ts';
import type { RequestContext, VendorItem, VendorRequest } from './compiled.ts';
import type { RequestDefinition } from './definition.ts';
import { setHeader } from './header-rules.ts';
import { renderText, type Sources, type Text } from './text.ts';

/** What an item carries from `build` to `request` and `read`. */
export interface Prepared {
  /** Bytes if the event was never parsed. */
  text: string | Uint8Array;
  /** Undefined unless the request refers to the date. */
  timestamp: string | undefined;
  sources?: Sources;
  /** The body up to the items. Equal for all items of a lane. */
  head?: string;
  /** How an answer may name this item. */
  keys?: string[];
  /** Items of a batch with the same value are combined. */
  combine?: { by: string; value: unknown };
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
  /** Texts with item references: part of the lane. */
  keyed: Text[];
  /** Sources that the texts refer to (`request`), and the values in them (`request.uuid`). The others are not computed. */
  uses: ReadonlySet<string>;
  /** A request with one item is still a list. */
  listed: boolean;
}

export function usesOf(texts: readonly Text[]): ReadonlySet<string> {
  const references = texts.flatMap(({ parts }) => parts.filter((part) => typeof part !== 'string'));
  return new Set(references.flatMap(({ source, path }) => [source, `${source}.${path.join('.')}`]));
}

export function assemble(build: Build, items: VendorItem[], context: RequestContext): VendorRequest {
  const { body, head, auth, definition, options, uses } = build;
  const prepared = items.map((item) => item.payload as Prepared);
  const sources = sourcesOf(build, prepared, context);
  const content = contentOf(build, prepared, sources);
  const compressed = definition.compression === 'gzip';
  // Signatures and hashes cover the exact bytes that are sent.
  let bytes =
    content.bytes ?? (content.text !== undefined && (auth.sign || compressed || uses.has('body')) ? utf8(content.text) : undefined);
  if (uses.has('body') && bytes) sources.body = { sha256: sha256Hex(bytes) };
  const url = urlOf(build, sources, body.in_query && prepared[0] ? textOf(prepared[0]) : undefined);
  const headers = { ...head.fixed };
  if (content.type !== undefined) setHeader(headers, 'Content-Type', content.type);
  for (const [name, text] of head.dynamic) {
    const value = headerText(renderText(text, sources));
    if (value !== '') setHeader(headers, name, value);
  }
  if (compressed && bytes && options.gzip) {
    bytes = options.gzip(bytes);
    setHeader(headers, 'Content-Encoding', 'gzip');
  }
  const request = { method: build.method, url, headers, body: bytes ?? NO_BYTES };
  if (auth.token && context.access_token !== undefined) auth.place?.(request, context.access_token);
  auth.sign?.(request, context);
  const sent = bytes ?? content.text;
  const finished: VendorRequest = { method: build.method, url: request.url, headers };
  if (sent !== undefined) finished.body = sent;
  if (auth.tls) finished.tls = auth.tls;
  return finished;
}

const NO_BYTES = new Uint8Array(0);

interface Content {
  text?: string | undefined;
  bytes?: Uint8Array;
  type?: string;
}

function contentOf({ body, definition, listed }: Build, prepared: Prepared[], sources: Sources): Content {
  const first = prepared[0];
  if (body.json && !listed && first?.text instanceof Uint8Array) return { bytes: first.text };
  const parts = prepared.map(textOf);
  const { index_field: field } = definition;
  const numbered = field
    ? parts.map((part, index) => withField(part, field.name, field.type === 'string' ? `"${index}"` : `${index}`))
    : parts;
  const text = body.assemble(numbered, listed, sources, first?.head);
  if (text === undefined || !body.typed) return { text };
  const typed = body.typed(text, sources);
  return { text: typed.text, type: typed.content_type };
}

/** Adds a field to the JSON text of an object. Its position is only known now, when the item is already encoded. */
function withField(part: string, name: string, value: string): string {
  if (!part.startsWith('{')) return part;
  return `{${JSON.stringify(name)}:${value}${part === '{}' ? '' : ','}${part.slice(1)}`;
}

function textOf({ text }: Prepared): string {
  return typeof text === 'string' ? text : fromUtf8(text);
}

function sourcesOf({ uses }: Build, prepared: Prepared[], context: RequestContext): Sources {
  const sources: Sources = { ...prepared[0]?.sources };
  if (uses.has('request'))
    sources.request = {
      id: context.request_id,
      uuid: uses.has('request.uuid') ? uuidOf(context.request_id) : undefined,
      attempt: context.attempt,
      timestamp: Math.floor(context.now / 1000),
    };
  if (uses.has('steps')) sources.steps = context.steps;
  if (uses.has('job')) sources.job = { id: context.job };
  if (uses.has('date')) sources.date = dateParts(prepared[0]?.timestamp, context.now);
  return sources;
}

/** A UUID of version 8 (RFC 9562): the same text always gives the same one. */
function uuidOf(text: string): string {
  const hex = sha256Hex(text);
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
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

/** Dates come from the event, not from the clock: a retry on the next day must overwrite the same object. */
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
