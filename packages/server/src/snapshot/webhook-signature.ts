/**
 * Signature schemes of inbound webhooks, each exactly as its service signs. A verifier returns undefined on success, otherwise why it
 * rejects.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookSource } from '@firsthand/core/config/resources.ts';

export interface SignedRequest {
  /** Names are lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Milliseconds since 1970; for a replay, the time of receipt. */
  now: number;
  /** URLs under which the sender may know this endpoint. */
  urls: readonly string[];
  /** Only a replay sets it: the digest that stands for this source's shared secret in a kept request. A live request has no such digest. */
  keptSecret?: (secret: string) => string;
}
export type Verifier = (request: SignedRequest) => string | undefined;

const TOLERANCE_S = 300;
/** Prefix of the digest that replaces a shared secret in a stored request. */
export const DIGEST_PREFIX = 'digest-of-secret:';
/** Earlier releases kept an unkeyed digest. It is no longer accepted anywhere, and masked like the present one. */
const EARLIER_DIGEST_PREFIX = 'sha256-of-secret:';

export function isKeptSecret(header: string): boolean {
  return header.startsWith(DIGEST_PREFIX) || header.startsWith(EARLIER_DIGEST_PREFIX);
}

export function verifierOf(source: WebhookSource): Verifier {
  const { signing_secret: secret } = source;
  switch (source.provider) {
    case 'stripe':
      return stripe(secret);
    case 'shopify':
      return bodyHmac('x-shopify-hmac-sha256', secret, /^()([A-Za-z0-9+/=]+)$/, 'base64');
    case 'hubspot':
      return hubspot(secret);
    case 'typeform':
      return bodyHmac('typeform-signature', secret, /^(sha256)=([A-Za-z0-9+/=]+)$/, 'base64');
    case 'intercom':
      return bodyHmac('x-hub-signature', secret, /^(sha1|sha256)=([0-9a-fA-F]+)$/, 'hex');
    case 'github':
      return bodyHmac('x-hub-signature-256', secret, /^(sha256)=([0-9a-fA-F]{64})$/, 'hex');
    case 'svix':
      return standardWebhooks(secret);
    case 'custom':
      return custom(source);
  }
}

function custom(source: WebhookSource): Verifier {
  const { signing_secret: secret } = source;
  const { method, header } = customScheme(source);
  switch (method) {
    case 'none':
      return () => undefined;
    case 'standard_webhooks':
      return standardWebhooks(secret);
    case 'shared_secret':
      return ({ headers, keptSecret }) => {
        const given = headers[header];
        if (given === undefined) return `signature failed: the header ${header} is missing`;
        const isDigest = keptSecret !== undefined && given.startsWith(DIGEST_PREFIX);
        const matches = isDigest ? sameText(given, DIGEST_PREFIX + keptSecret(secret)) : sameText(given, secret);
        return matches ? undefined : 'signature failed: the shared secret is wrong';
      };
    case 'hmac_sha256':
      return ({ headers, body }) => {
        const given = headers[header];
        if (given === undefined) return `signature failed: the header ${header} is missing`;
        return same(signatureBytes(given), hmac('sha256', secret, body)) ? undefined : 'signature failed: it does not match';
      };
  }
}

/** How a custom source signs, and the header (lower case) that has the signature or the secret. */
export function customScheme({ signature_header, signature_method }: Pick<WebhookSource, 'signature_header' | 'signature_method'>) {
  const header = (signature_header ?? '').toLowerCase();
  return { method: signature_method ?? (header === '' ? ('none' as const) : ('hmac_sha256' as const)), header };
}

/** The bytes of a signature in hex or base64, with or without `sha256=`. */
export function signatureBytes(header: string): Buffer {
  const text = header.trim().replace(/^sha256=/i, '');
  return Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64');
}

function bodyHmac(header: string, secret: string, form: RegExp, encoding: 'hex' | 'base64'): Verifier {
  return ({ headers, body }) => {
    const given = headers[header];
    if (given === undefined) return `signature failed: the header ${header} is missing`;
    const match = form.exec(given.trim());
    if (!match) return `signature failed: the header ${header} is malformed`;
    const digest = hmac(match[1] || 'sha256', secret, body);
    return same(decode(match[2] ?? '', encoding), digest) ? undefined : 'signature failed: it does not match';
  };
}

function stripe(secret: string): Verifier {
  return ({ headers, body, now }) => {
    const given = headers['stripe-signature'];
    if (given === undefined) return 'signature failed: the header stripe-signature is missing';
    const parts = given.split(',').map((part) => part.trim());
    const time = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
    if (!/^\d{1,12}$/.test(time)) return 'signature failed: the header stripe-signature is malformed';
    if (Math.abs(now / 1_000 - Number(time)) > TOLERANCE_S) return 'signature failed: the timestamp is outside the tolerance';
    const digest = hmac('sha256', secret, `${time}.`, body);
    const matches = parts.some((part) => part.startsWith('v1=') && same(decode(part.slice(3), 'hex'), digest));
    return matches ? undefined : 'signature failed: it does not match';
  };
}

function hubspot(secret: string): Verifier {
  return ({ headers, body, now, urls }) => {
    const given = headers['x-hubspot-signature-v3'];
    const time = headers['x-hubspot-request-timestamp'] ?? '';
    if (given === undefined) return 'signature failed: the header x-hubspot-signature-v3 is missing';
    if (!/^\d{1,15}$/.test(time)) return 'signature failed: the header x-hubspot-request-timestamp is missing or malformed';
    if (Math.abs(now - Number(time)) > TOLERANCE_S * 1_000) return 'signature failed: the timestamp is outside the tolerance';
    const signature = Buffer.from(given, 'base64');
    const matches = urls.some((url) => same(signature, hmac('sha256', secret, `POST${url}`, body, time)));
    return matches ? undefined : 'signature failed: it does not match';
  };
}

/** Keys are base64 after `whsec_`; a secret chosen as plain text is used as its bytes. */
function standardWebhooks(secret: string): Verifier {
  const keys = secret.startsWith('whsec_')
    ? [Buffer.from(secret.slice(6), 'base64')]
    : [Buffer.from(secret, 'base64'), Buffer.from(secret)];
  const usable = keys.filter((key) => key.length > 0);
  return ({ headers, body, now }) => {
    // Svix signs the same way under its own header names.
    const prefix = headers['svix-id'] === undefined ? 'webhook' : 'svix';
    const id = headers[`${prefix}-id`];
    const time = headers[`${prefix}-timestamp`] ?? '';
    const given = headers[`${prefix}-signature`];
    if (id === undefined || given === undefined || !/^\d{1,12}$/.test(time))
      return `signature failed: ${prefix}-id, ${prefix}-timestamp or ${prefix}-signature is missing`;
    if (Math.abs(now / 1_000 - Number(time)) > TOLERANCE_S) return 'signature failed: the timestamp is outside the tolerance';
    const signatures = given.split(' ').flatMap((part) => (part.startsWith('v1,') ? [Buffer.from(part.slice(3), 'base64')] : []));
    const matches = usable.some((key) => {
      const digest = hmac('sha256', key, `${id}.${time}.`, body);
      return signatures.some((signature) => same(signature, digest));
    });
    return matches ? undefined : 'signature failed: it does not match';
  };
}

function hmac(algorithm: string, key: string | Uint8Array, ...parts: (string | Uint8Array)[]): Buffer {
  const sum = createHmac(algorithm, key);
  for (const part of parts) sum.update(part);
  return sum.digest();
}
/** Empty where the text is not hex throughout: Buffer.from reads up to the first fault. */
function decode(text: string, encoding: 'hex' | 'base64'): Buffer {
  return encoding === 'base64' || /^([0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, encoding) : Buffer.alloc(0);
}
function same(given: Uint8Array, expected: Uint8Array): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
/** Compares hashes, so that the time taken does not tell the length either. */
function sameText(given: string, expected: string): boolean {
  const sha256 = (text: string) => createHash('sha256').update(text).digest();
  return same(sha256(given), sha256(expected));
}
