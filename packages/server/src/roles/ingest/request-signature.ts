/** HMAC of server-side requests: `X-Signature: sha256=<hex>` over `<X-Timestamp>.<raw body>` under the pipeline key secret. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';

const TOLERANCE_MS = 300_000;
/** Below this a timestamp is seconds: as milliseconds it would be a day in early 1973. */
const SECONDS_BELOW = 1e11;

export type SignatureCheck =
  | { kind: 'unsigned' }
  | { kind: 'wrong' }
  /** What event ids are derived from; the digest we computed, so that no spelling of it makes a second one. */
  | { kind: 'signed'; digest: string };

const UNSIGNED: SignatureCheck = { kind: 'unsigned' };
const WRONG: SignatureCheck = { kind: 'wrong' };

/** `bodies`: the bytes as they came, and unpacked where they came as gzip; a client may have signed either. */
export function checkSignature(
  headers: IncomingHttpHeaders,
  rules: IngestRules,
  bodies: readonly Uint8Array[],
  now: number,
): SignatureCheck {
  const { 'x-signature': signature, 'x-timestamp': timestamp } = headers;
  if (signature === undefined && timestamp === undefined) return rules.requireSignature ? WRONG : UNSIGNED;
  if (typeof signature !== 'string' || typeof timestamp !== 'string') return WRONG;
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(signature.trim())?.[1];
  if (hex === undefined || !/^\d{1,16}$/.test(timestamp)) return WRONG;
  const at = Number(timestamp) < SECONDS_BELOW ? Number(timestamp) * 1_000 : Number(timestamp);
  if (Math.abs(now - at) > TOLERANCE_MS) return WRONG;
  const given = Buffer.from(hex, 'hex');
  for (const body of bodies) {
    const digest = createHmac('sha256', rules.signingKey).update(`${timestamp}.`).update(body).digest();
    if (timingSafeEqual(given, digest)) return { kind: 'signed', digest: digest.toString('hex') };
  }
  return WRONG;
}
