/** Responses of the collection endpoints: JSON with CORS headers, on every status. Header lists are built once per origin. */
import type { ServerResponse } from 'node:http';
import { corsHeaders } from './cors.ts';
import { COLLECTION_ERRORS, type CollectionErrorCode } from './errors.ts';

/** A string, not bytes: Node writes headers and a string in one write, headers and bytes in two. */
export const SUCCESS = '{"success":true}';
const MAX_CACHED_ORIGINS = 2_000;

/** Why a request or an event was not accepted. */
export interface Rejection {
  code: CollectionErrorCode;
  /** Overrides the message of the error table. */
  message?: string;
  retryAfterS?: number;
  /** The `Allow` header of a 405. */
  allow?: string;
}
export interface Reply {
  status: number;
  body: string | Buffer;
  origin: string | undefined;
  /** Default: `application/json`. */
  contentType?: string;
  /** Names and values, alternating. */
  headers?: readonly string[];
  cookies?: readonly string[] | undefined;
}

interface HeaderLists {
  json: readonly string[];
  success: readonly string[];
}
const listsByOrigin = new Map<string, HeaderLists>();

function headerLists(origin: string | undefined): HeaderLists {
  const key = origin ?? '*';
  let lists = listsByOrigin.get(key);
  if (lists !== undefined) return lists;
  const json = ['Content-Type', 'application/json', ...corsHeaders(origin === '*' ? undefined : origin)];
  lists = { json, success: [...json, 'Content-Length', String(SUCCESS.length)] };
  if (listsByOrigin.size >= MAX_CACHED_ORIGINS) listsByOrigin.clear();
  listsByOrigin.set(key, lists);
  return lists;
}

/** The headers of every JSON reply, as lines of text. */
export function jsonHeaderLines(origin: string | undefined): string[] {
  const { json } = headerLists(origin);
  return Array.from({ length: json.length / 2 }, (_, at) => `${json[at * 2]}: ${json[at * 2 + 1]}`);
}

export function messageOf({ code, message }: Rejection): string {
  return message ?? COLLECTION_ERRORS[code].message;
}
export function errorReply(rejection: Rejection, origin: string | undefined): Reply {
  const { code, retryAfterS, allow } = rejection;
  const headers: string[] = [];
  if (retryAfterS !== undefined) headers.push('Retry-After', String(retryAfterS));
  if (allow !== undefined) headers.push('Allow', allow);
  const body = JSON.stringify({ error: code, message: messageOf(rejection) });
  return { status: COLLECTION_ERRORS[code].status, body, origin, headers };
}

export function writeReply(res: ServerResponse, { status, body, origin, contentType, headers = [], cookies }: Reply): void {
  const base = contentType === undefined ? headerLists(origin).json : ['Content-Type', contentType, ...corsHeaders(origin)];
  const all = [...base, 'Content-Length', String(Buffer.byteLength(body)), ...headers];
  res.writeHead(status, cookies === undefined ? all : withCookies(all, cookies));
  res.end(body);
}
export function writeSuccess(res: ServerResponse, origin: string | undefined, cookies?: readonly string[]): void {
  const { success } = headerLists(origin);
  // `writeHead` is typed for a mutable list but does not modify it.
  res.writeHead(200, (cookies === undefined ? success : withCookies(success, cookies)) as string[]);
  // The body is ASCII, and latin1 saves Node a scan.
  res.end(SUCCESS, 'latin1');
}

function withCookies(headers: readonly string[], cookies: readonly string[]): string[] {
  const all = [...headers];
  for (const cookie of cookies) all.push('Set-Cookie', cookie);
  return all;
}
