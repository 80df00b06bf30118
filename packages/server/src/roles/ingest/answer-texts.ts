/** Whole answers as text, ready to be written: made once for each origin, and those that carry a date once a second. */
import { COLLECTION_ERRORS } from '../../http/errors.ts';
import { jsonHeaderLines, OK } from './answers.ts';
import { OVERLOADED } from './overloaded.ts';

const REMEMBERED = 2_000;

const refusals = new Map<string, string>();
export function overloadedText(origin: string, keepAliveMs: number): string {
  let text = refusals.get(origin);
  if (text !== undefined) return text;
  const { status, message } = COLLECTION_ERRORS[OVERLOADED.code];
  const body = JSON.stringify({ error: OVERLOADED.code, message });
  text = textOf(`${status} Service Unavailable`, origin, body, [`Retry-After: ${OVERLOADED.retryAfterS}`], keepAliveMs);
  if (refusals.size >= REMEMBERED) refusals.clear();
  refusals.set(origin, text);
  return text;
}

let oks = new Map<string, string>();
let oksUntil = 0;
export function okText(origin = '*', keepAliveMs: number): string {
  const now = Date.now();
  if (now >= oksUntil || oks.size >= REMEMBERED) {
    oks = new Map();
    oksUntil = now - (now % 1_000) + 1_000;
  }
  let text = oks.get(origin);
  if (text === undefined) oks.set(origin, (text = textOf('200 OK', origin, OK, [`Date: ${new Date(now).toUTCString()}`], keepAliveMs)));
  return text;
}

function textOf(status: string, origin: string, body: string, more: readonly string[], keepAliveMs: number): string {
  return [
    `HTTP/1.1 ${status}`,
    ...jsonHeaderLines(origin),
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...more,
    'Connection: keep-alive',
    `Keep-Alive: timeout=${Math.floor(keepAliveMs / 1_000)}`,
    '',
    body,
  ].join('\r\n');
}
