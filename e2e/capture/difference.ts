/** Compares a captured request with the expected one. Each difference is a line: where, what was expected, what arrived. */
import { containedIn, type ExpectedRequest } from '@firsthand/catalog/vendors/shared/cases.ts';
import { isObject } from '@firsthand/core/json.ts';
import type { Received } from '../harness/receiver.ts';

/** They depend on the time of sending or on the order of keys. */
const CHANGING = new Set(['webhook-timestamp', 'webhook-signature', 'x-amz-date', 'x-amz-content-sha256', 'x-ms-date']);
const SIGNED = /^(SharedKey |SharedAccessSignature |AWS4-HMAC-SHA256 |OAuth oauth_)/;
/** A signed JWT: its header and claims, without the times and the signature. */
function withoutTimes(value: unknown): unknown {
  const [, header, claims] = /^Bearer (eyJ[\w-]+)\.(eyJ[\w-]+)\.[\w-]*$/.exec(String(value)) ?? [];
  if (header === undefined || claims === undefined) return value;
  const { iat: _issued, exp: _expires, ...rest } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  return { header: JSON.parse(Buffer.from(header, 'base64url').toString()), claims: rest };
}
/** The id that the service gives a batch of events, as a text or as a UUID made of it. */
const BATCH_ID = /^(?:bat_[0-9a-f]+|[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$/;
/** An object's name in a bucket is the hash of its bytes, which depends on the order of keys. */
const withoutHash = (path: string) => path.replace(/[0-9a-f]{64}/, '<hash>');
/** As the HTTP client writes it: an apostrophe in a query becomes %27. */
const asSent = (url: string) => {
  const { pathname, search } = new URL(url, 'https://vendor.example');
  return withoutHash(pathname + search);
};

export interface CompareOptions {
  /** Events of several visitors share a batch in any order. */
  anyOrder?: boolean;
}

/** Requests of one event may be sent in any order, so each expected one is compared with the most similar one of those that are left. */
export function requestDifferences(
  expected: readonly ExpectedRequest[],
  received: readonly Received[],
  options: CompareOptions = {},
): string[] {
  if (expected.length !== received.length)
    return [
      `requests: expected ${expected.length}, received ${received.length}`,
      ...received.map(({ path, body }) => `  ${path} ${body.slice(0, 300)}`),
    ];
  const left = [...received];
  return expected.flatMap((one, at) => {
    const compared = left.map((request) => ({ request, lines: requestDifference(`requests[${at}]`, one, request, options) }));
    const [closest] = compared.sort((a, b) => a.lines.length - b.lines.length);
    if (closest) left.splice(left.indexOf(closest.request), 1);
    return closest?.lines ?? [];
  });
}

function requestDifference(
  at: string,
  expected: ExpectedRequest,
  { method, path, headers, body }: Received,
  options: CompareOptions,
): string[] {
  const lines: string[] = [];
  const same = (where: string, wanted: unknown, got: unknown) => lines.push(...valueDifferences(`${at}.${where}`, wanted, got));
  if (expected.method) same('method', expected.method, method);
  if (expected.url) same('url', asSent(expected.url), asSent(path));
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    const got = headers[name.toLowerCase()];
    const changes = CHANGING.has(name.toLowerCase()) || SIGNED.test(value) || BATCH_ID.test(String(got));
    if (!changes) same(`headers.${name}`, withoutTimes(value), withoutTimes(got));
  }
  // The order of keys is of no consequence in JSON, and the service writes its own.
  const read = (content: unknown) => {
    const value = opened(typeof content === 'string' ? parsed(content) : content);
    return options.anyOrder ? sorted(value) : value;
  };
  if (expected.body !== undefined) same('body', read(expected.body), read(body));
  if (expected.contains) same('contains', expected.contains, containedIn({ url: path, body }, expected.contains));
  return lines;
}

export function valueDifferences(at: string, expected: unknown, received: unknown): string[] {
  if (Object.is(expected, received)) return [];
  if (Array.isArray(expected) && Array.isArray(received)) {
    const length = Math.max(expected.length, received.length);
    return Array.from({ length }, (_, i) => valueDifferences(`${at}[${i}]`, expected[i], received[i])).flat();
  }
  if (isObject(expected) && isObject(received)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(received)]);
    return [...keys].flatMap((key) => valueDifferences(`${at}.${key}`, expected[key], received[key]));
  }
  return [`${at}: expected ${shown(expected)}, received ${shown(received)}`];
}

/** Lists of objects or lists, ordered by their text. */
function sorted(value: unknown): unknown {
  if (isObject(value))
    return Object.fromEntries(
      Object.keys(value)
        .sort()
        .map((key) => [key, sorted(value[key])]),
    );
  if (!Array.isArray(value)) return value;
  const items = value.map(sorted);
  return items.some((item) => typeof item === 'object') ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
}

const shown = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));

/** JSON, lines of JSON, a form, or text. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    if (body.includes('}\n{')) return body.trimEnd().split('\n').map(parsed);
    return /^[\w.%+-]+=[^\s]*$/.test(body) ? Object.fromEntries(new URLSearchParams(body)) : body;
  }
}

/** The same value with the JSON inside of its texts parsed, plain or as Base64: the order of keys is of no consequence there either. */
function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(opened);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, opened(inner)]));
  if (typeof value !== 'string') return value;
  const text = value.startsWith('eyJ') ? Buffer.from(value, 'base64').toString() : value;
  return /^[[{]/.test(text) ? parsed(text) : value;
}
