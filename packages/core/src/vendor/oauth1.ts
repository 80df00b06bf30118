/** OAuth 1.0a (RFC 5849), the `Authorization` header form. */
import { hmacSha1, hmacSha256, sha256Hex, toBase64 } from '../hash/hash.ts';
import type { Unsigned } from './auth.ts';
import { fromUtf8 } from './bytes.ts';
import type { RequestContext } from './compiled.ts';
import { setHeader } from './header-rules.ts';
import { percentEncode } from './sigv4.ts';

export interface OAuth1Credentials {
  consumer_key: string;
  consumer_secret: string;
  token: string;
  token_secret: string;
  signature_method: 'HMAC-SHA1' | 'HMAC-SHA256';
}

export function oauth1Signer(credentials: OAuth1Credentials): (request: Unsigned, context: RequestContext) => void {
  return (request, context) => {
    // Unique per attempt, as the vendor's replay protection requires, and the same for the same attempt.
    const nonce = sha256Hex(`${context.request_id}\n${context.attempt}\n${context.now}`).slice(0, 32);
    setHeader(request.headers, 'Authorization', authorization(request, credentials, nonce, Math.floor(context.now / 1000)));
  };
}

export function authorization(request: Unsigned, credentials: OAuth1Credentials, nonce: string, timestamp: number): string {
  const oauth: [string, string][] = [
    ['oauth_consumer_key', credentials.consumer_key],
    ['oauth_nonce', nonce],
    ['oauth_signature_method', credentials.signature_method],
    ['oauth_timestamp', String(timestamp)],
    ['oauth_token', credentials.token],
    ['oauth_version', '1.0'],
  ];
  const url = new URL(request.url);
  const parameters = [...oauth, ...url.searchParams, ...formFields(request)]
    .map(([name, value]) => [percentEncode(name), percentEncode(value)] as const)
    .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  const base = [request.method.toUpperCase(), `${url.origin}${url.pathname}`, parameters].map(percentEncode).join('&');
  const key = `${percentEncode(credentials.consumer_secret)}&${percentEncode(credentials.token_secret)}`;
  const signature = toBase64((credentials.signature_method === 'HMAC-SHA1' ? hmacSha1 : hmacSha256)(key, base));
  const fields = [...oauth, ['oauth_signature', signature] as const];
  return `OAuth ${fields.map(([name, value]) => `${name}="${percentEncode(value)}"`).join(', ')}`;
}

/** Form fields are signed too; JSON bodies are not. */
function formFields({ headers, body }: Unsigned): [string, string][] {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  return type.startsWith('application/x-www-form-urlencoded') ? [...new URLSearchParams(fromUtf8(body))] : [];
}
