/** Ready-made answers: header lists are built once per origin, bodies once per code. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { COLLECTION_ERRORS, type CollectionErrorCode } from '../../http/errors.ts';

/** Text, not bytes: Node sends head and text in one write, a head and bytes in two. */
export const OK = '{"success":true}';
/** A transparent GIF of one pixel. */
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const ALLOW_HEADERS = 'Content-Type, Authorization';
const REMEMBERED = 2_000;
/** What a browser may send as Origin: nothing else is echoed, whatever stood in the header. */
const ECHOABLE = /^[\x21-\x7e]{1,300}$/;

interface HeaderLists {
  json: readonly string[];
  ok: readonly string[];
}
const lists = new Map<string, HeaderLists>();

/** The headers that every answer in JSON begins with, as lines of text. */
export function jsonHeaderLines(origin: string | undefined): string[] {
  const { json } = listsOf(origin);
  return Array.from({ length: json.length / 2 }, (_, at) => `${json[at * 2]}: ${json[at * 2 + 1]}`);
}
function listsOf(origin: string | undefined): HeaderLists {
  const key = origin ?? '*';
  let known = lists.get(key);
  if (known) return known;
  const json = ['Content-Type', 'application/json', ...corsHeaders(key)];
  known = { json, ok: [...json, 'Content-Length', String(OK.length)] };
  if (lists.size >= REMEMBERED) lists.clear();
  lists.set(key, known);
  return known;
}

/** Names and values in turn. */
function corsHeaders(origin: string): string[] {
  return [
    'Access-Control-Allow-Origin',
    ECHOABLE.test(origin) ? origin : 'null',
    'Access-Control-Allow-Methods',
    'POST, OPTIONS',
    'Access-Control-Allow-Headers',
    ALLOW_HEADERS,
    'Access-Control-Allow-Credentials',
    'true',
    'Access-Control-Expose-Headers',
    'Retry-After',
    'Vary',
    'Origin',
  ];
}

export function sendOk(res: ServerResponse, origin: string | undefined, cookies: readonly string[] | undefined): void {
  const { ok } = listsOf(origin);
  res.writeHead(200, (cookies === undefined ? ok : withCookies(ok, cookies)) as string[]);
  // Every header is ASCII: one byte for each character, and nothing to look for.
  res.end(OK, 'latin1');
}

export function sendJson(
  res: ServerResponse,
  origin: string | undefined,
  status: number,
  body: string,
  cookies?: readonly string[],
  extra: readonly string[] = [],
): void {
  const headers = [...listsOf(origin).json, 'Content-Length', String(Buffer.byteLength(body)), ...extra];
  res.writeHead(status, cookies === undefined ? headers : withCookies(headers, cookies));
  res.end(body);
}

export function sendGif(res: ServerResponse, origin: string | undefined, cookies: readonly string[] | undefined): void {
  const headers = [
    'Content-Type',
    'image/gif',
    'Content-Length',
    String(GIF.length),
    'Cache-Control',
    'no-store',
    ...corsHeaders(origin ?? '*'),
  ];
  res.writeHead(200, cookies === undefined ? headers : withCookies(headers, cookies));
  res.end(GIF);
}

export interface Refusal {
  code: CollectionErrorCode;
  /** Instead of the table's text. */
  message?: string;
  retryAfterS?: number;
  /** `Allow`, for a wrong method. */
  allow?: string;
}

export function sendError(res: ServerResponse, origin: string | undefined, refusal: Refusal): void {
  const { status, message } = COLLECTION_ERRORS[refusal.code];
  const body = JSON.stringify({ error: refusal.code, message: refusal.message ?? message });
  const extra: string[] = [];
  if (refusal.retryAfterS !== undefined) extra.push('Retry-After', String(refusal.retryAfterS));
  if (refusal.allow !== undefined) extra.push('Allow', refusal.allow);
  sendJson(res, origin, status, body, undefined, extra);
}

/** A preflight names no key, so it knows no pipeline: the origin is echoed, and the request itself will be judged. */
export function sendPreflight(req: IncomingMessage, res: ServerResponse): void {
  const headers = corsHeaders(req.headers.origin ?? '*');
  const asked = req.headers['access-control-request-headers'];
  if (asked !== undefined && /(?:^|[\s,])x-retry-count(?:$|[\s,])/i.test(asked)) {
    headers[headers.indexOf('Access-Control-Allow-Headers') + 1] = `${ALLOW_HEADERS}, X-Retry-Count`;
  }
  res.writeHead(204, [...headers, 'Access-Control-Max-Age', '600']);
  res.end();
}

function withCookies(headers: readonly string[], cookies: readonly string[]): string[] {
  const all = [...headers];
  for (const cookie of cookies) all.push('Set-Cookie', cookie);
  return all;
}
