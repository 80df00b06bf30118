/** Whole replies as text. Each is made once per origin; those with a `Date` header once per second. */
import { errorReply, jsonHeaderLines, SUCCESS } from '../../../http/collection-reply.ts';
import { OVERLOADED } from '../exchange.ts';

const MAX_CACHED_ORIGINS = 2_000;

const overloaded = new Map<string, string>();
export function overloadedText(origin: string, keepAliveMs: number): string {
  let text = overloaded.get(origin);
  if (text !== undefined) return text;
  const { status, body } = errorReply(OVERLOADED, origin);
  text = replyText(`${status} Service Unavailable`, origin, String(body), [`Retry-After: ${OVERLOADED.retryAfterS}`], keepAliveMs);
  if (overloaded.size >= MAX_CACHED_ORIGINS) overloaded.clear();
  overloaded.set(origin, text);
  return text;
}

let successes = new Map<string, string>();
let successesUntil = 0;
export function successText(origin = '*', keepAliveMs: number): string {
  const now = Date.now();
  if (now >= successesUntil || successes.size >= MAX_CACHED_ORIGINS) {
    successes = new Map();
    successesUntil = now - (now % 1_000) + 1_000;
  }
  let text = successes.get(origin);
  if (text === undefined) {
    text = replyText('200 OK', origin, SUCCESS, [`Date: ${new Date(now).toUTCString()}`], keepAliveMs);
    successes.set(origin, text);
  }
  return text;
}

function replyText(status: string, origin: string, body: string, headers: readonly string[], keepAliveMs: number): string {
  return [
    `HTTP/1.1 ${status}`,
    ...jsonHeaderLines(origin),
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    'Connection: keep-alive',
    `Keep-Alive: timeout=${Math.floor(keepAliveMs / 1_000)}`,
    '',
    body,
  ].join('\r\n');
}
