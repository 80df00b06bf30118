/** AWS Signature Version 4, the `Authorization` header form. */
import { hmacSha256, sha256Hex, toHex } from '../hash/hash.ts';
import { utf8 } from './bytes.ts';

export interface AwsCredentials {
  access_key_id: string;
  secret_access_key: string;
  session_token?: string;
  region: string;
  service: string;
}
export interface SignedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** The headers to add. All given headers and `host` (sent by the client) are signed, except the user agent, because proxies rewrite it. */
export function signAws(request: SignedRequest, credentials: AwsCredentials, nowMs: number): Record<string, string> {
  // S3 and some others require the hash as a header; the other services ignore it.
  const bodyHash = sha256Hex(request.body);
  const added: Record<string, string> = { 'x-amz-content-sha256': bodyHash, 'x-amz-date': amzDate(nowMs) };
  if (credentials.session_token) added['x-amz-security-token'] = credentials.session_token;
  added.Authorization = authorization({ ...request, headers: { ...request.headers, ...added } }, bodyHash, credentials, nowMs);
  return added;
}

export function authorization(
  { method, url: text, headers }: Omit<SignedRequest, 'body'>,
  bodyHash: string,
  credentials: AwsCredentials,
  nowMs: number,
): string {
  const url = new URL(text);
  const stamp = amzDate(nowMs);
  const day = stamp.slice(0, 8);
  const signed: [string, string][] = Object.entries(headers)
    .map(([name, value]): [string, string] => [name.toLowerCase(), value.trim().replace(/ +/g, ' ')])
    .filter(([name]) => name !== 'user-agent');
  signed.push(['host', url.host]);
  signed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const names = signed.map(([name]) => name).join(';');

  const canonical = [
    method,
    canonicalPath(url.pathname, credentials.service),
    canonicalQuery(url.searchParams),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    bodyHash,
  ].join('\n');
  const scope = `${day}/${credentials.region}/${credentials.service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, sha256Hex(canonical)].join('\n');
  const signature = toHex(hmacSha256(signingKey(credentials, day), toSign));
  return `AWS4-HMAC-SHA256 Credential=${credentials.access_key_id}/${scope},SignedHeaders=${names},Signature=${signature}`;
}

function signingKey(credentials: AwsCredentials, day: string): Uint8Array {
  let key: Uint8Array = utf8(`AWS4${credentials.secret_access_key}`);
  for (const text of [day, credentials.region, credentials.service, 'aws4_request']) key = hmacSha256(key, text);
  return key;
}

function amzDate(nowMs: number): string {
  return `${new Date(nowMs).toISOString().replace(/[-:]/g, '').slice(0, 15)}Z`;
}

/** S3 (and `s3express`) expect a path encoded once; every other service expects the path of the request line encoded once more. */
export function canonicalPath(path: string, service: string): string {
  return path
    .split('/')
    .map(service.startsWith('s3') ? (part) => percentEncode(decoded(part)) : percentEncode)
    .join('/');
}

/** The path may be percent-encoded already, and partly (`$`, `(`). */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray percent sign is a character like any other
  }
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => [percentEncode(name), percentEncode(value)] as const);
  pairs.sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0));
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

/** Encodes everything except the unreserved characters of RFC 3986. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
