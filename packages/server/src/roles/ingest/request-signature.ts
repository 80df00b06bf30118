/** The signature of server-side requests: `X-Signature: sha256=<hex HMAC-SHA256 of "<X-Timestamp>.<raw body>">` under the pipeline key secret. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import type { CollectionHeaders } from './collection-headers.ts';

const TOLERANCE_MS = 300_000;
/** Smaller timestamps are seconds: as milliseconds they would be days of early 1973. */
const SECONDS_BELOW = 1e11;

export type SignatureCheck =
  /** `digest` is undefined for a request that is unsigned and may be. It is computed here, so its spelling is unique. */
  { kind: 'accepted'; digest: string | undefined } | { kind: 'rejected'; message: string };

const UNSIGNED: SignatureCheck = { kind: 'accepted', digest: undefined };
const rejected = (message: string): SignatureCheck => ({ kind: 'rejected', message });

const MISSING = rejected('The request signature is missing: send X-Timestamp and X-Signature.');
const NO_SIGNATURE = rejected('The request signature is missing: X-Timestamp came without X-Signature.');
const NO_TIMESTAMP = rejected('The request signature is missing its time: X-Signature came without X-Timestamp.');
const MALFORMED_SIGNATURE = rejected('The request signature is malformed: X-Signature must be sha256= and 64 hex digits.');
const MALFORMED_TIMESTAMP = rejected('The request signature is malformed: X-Timestamp must be Unix time in milliseconds or seconds.');
const STALE = rejected('The request signature is stale: X-Timestamp is more than 300 seconds off the server clock.');
const WRONG = rejected(
  'The request signature is wrong: it must be the HMAC-SHA256 of "<X-Timestamp>.<raw body>" under the pipeline key secret.',
);

export function checkSignature(
  headers: Pick<CollectionHeaders, 'x-signature' | 'x-timestamp'>,
  rules: Pick<IngestRules, 'requireSignature' | 'signingKey'>,
  bodies: readonly Uint8Array[],
  now: number,
): SignatureCheck {
  const { 'x-signature': signature, 'x-timestamp': timestamp } = headers;
  if (signature === undefined && timestamp === undefined) return rules.requireSignature ? MISSING : UNSIGNED;
  if (signature === undefined) return NO_SIGNATURE;
  if (timestamp === undefined) return NO_TIMESTAMP;
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(signature.trim())?.[1];
  if (hex === undefined) return MALFORMED_SIGNATURE;
  const time = timestamp.trim();
  if (!/^\d{1,16}$/.test(time)) return MALFORMED_TIMESTAMP;
  const at = Number(time) < SECONDS_BELOW ? Number(time) * 1_000 : Number(time);
  if (Math.abs(now - at) > TOLERANCE_MS) return STALE;
  const given = Buffer.from(hex, 'hex');
  for (const body of bodies) {
    const digest = createHmac('sha256', rules.signingKey).update(`${time}.`).update(body).digest();
    if (timingSafeEqual(given, digest)) return { kind: 'accepted', digest: digest.toString('hex') };
  }
  return WRONG;
}
