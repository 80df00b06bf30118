/** Rejected webhooks are kept as they came, so that they can be replayed once the cause is fixed. */
import type { DeadLetter, Outcome, RejectedWebhook } from '@firsthand/core/outcome/outcome.ts';
import { keptSecretOf } from '../../../intake/webhook/kept-secret.ts';
import { newId } from '../../../runtime/ids.ts';
import type { SecretDigest } from '../../../secrets/secret-digest.ts';
import { customScheme, DIGEST_PREFIX, signatureBytes } from '../../../snapshot/webhook-signature.ts';
import type { CompiledWebhookSource } from '../../../snapshot/webhook-source.ts';
import { MAX_REASON } from '../../../stores/observe/stored-text.ts';

/** Of a body: its text, and its bytes in base64 where the text alone does not give them back. */
const MAX_KEPT = 65_536;
const MAX_HEADER = 4_096;
/** Of all headers, and of the whole query: a message of a broker may have a key or thousands of headers of a megabyte. */
const MAX_NAMED = 32_768;
/** The sender's credentials are not kept. */
const OMITTED_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization']);
const SIGNATURE_BYTES = 32;

export interface KeptRequest {
  headers: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** The URLs under which the sender may have signed. */
  urls: readonly string[];
  /** The bytes that were signed. */
  body: Buffer;
  /** The body unpacked, where it came as gzip. */
  unpacked: Buffer | undefined;
  receivedAt: number;
}

export function webhookDeadLetter(
  { source }: CompiledWebhookSource,
  request: KeptRequest,
  reason: string,
  deps: { retentionMs: number; digestSecret: SecretDigest },
): Outcome & { kind: 'dead_lettered' } {
  const { query, urls, receivedAt } = request;
  const id = newId('dlq', receivedAt);
  const kept = withinSize(query);
  const knownUrls = urls.filter((url) => url.length <= MAX_HEADER);
  const dead_letter: DeadLetter = {
    id,
    org_id: source.org_id,
    pipeline_id: source.pipeline_id,
    integration_id: null,
    webhook_source_id: source.id,
    vendor: source.provider,
    revision_number: null,
    event_id: id,
    stage: 'webhook',
    event: {
      headers: withinSize(keptHeaders(source, request.headers, keptSecretOf(deps.digestSecret, source.id))).values,
      query: kept.values,
      ...(kept.isCut ? { body: keptBody(request).body, truncated: true } : keptBody(request)),
      ...(knownUrls.length === 0 ? {} : { urls: knownUrls }),
      received_at: new Date(receivedAt).toISOString(),
    },
    attempts: [],
    reason: reason.slice(0, MAX_REASON),
    created_at: new Date(receivedAt).toISOString(),
    expires_at: new Date(receivedAt + deps.retentionMs).toISOString(),
  };
  return {
    kind: 'dead_lettered',
    at: receivedAt,
    org_id: source.org_id,
    pipeline_id: source.pipeline_id,
    event_id: id,
    type: 'track',
    dead_letter,
  };
}

/** A query that is cut cannot be mapped again: its values may be ids. */
function withinSize(named: Readonly<Record<string, string>>): { values: Record<string, string>; isCut: boolean } {
  const values: [name: string, value: string][] = [];
  let left = MAX_NAMED;
  for (const [name, value] of Object.entries(named)) {
    left -= name.length;
    if (left < 0) break;
    values.push([name, value.slice(0, left)]);
    left -= value.length;
    if (left < 0) break;
  }
  return { values: Object.fromEntries(values), isCut: left < 0 };
}

/** 64 KB together. The signed bytes come first, because a replay needs all of them; text that is cut can still be read. */
function keptBody({ body, unpacked }: Pick<KeptRequest, 'body' | 'unpacked'>): Pick<RejectedWebhook, 'body' | 'body_base64' | 'truncated'> {
  const readable = unpacked ?? body;
  const text = readable.toString('utf8', 0, MAX_KEPT);
  if (unpacked === undefined && body.length <= MAX_KEPT && Buffer.from(text).equals(body)) return { body: text };
  const base64 = body.length <= MAX_KEPT ? body.toString('base64') : '';
  const isKept = base64 !== '' && base64.length <= MAX_KEPT;
  const room = isKept ? MAX_KEPT - base64.length : MAX_KEPT;
  return {
    body: readable.toString('utf8', 0, room),
    ...(isKept ? { body_base64: base64 } : {}),
    ...(isKept && readable.length <= room ? {} : { truncated: true }),
  };
}

/**
 * A shared secret is kept as a digest, which is enough to verify it again. A signature is no credential: it is kept whatever its header is
 * called.
 */
function keptHeaders(
  source: CompiledWebhookSource['source'],
  headers: Readonly<Record<string, string>>,
  keptSecret: (secret: string) => string,
): Record<string, string> {
  const { method, header } = customScheme(source);
  const isSignature = (name: string, value: string) =>
    method === 'hmac_sha256' && name === header && signatureBytes(value).length === SIGNATURE_BYTES;
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (method === 'shared_secret' && name === header) kept[name] = DIGEST_PREFIX + keptSecret(value);
    else if ((!OMITTED_HEADERS.has(name) || isSignature(name, value)) && name !== '__proto__') kept[name] = value.slice(0, MAX_HEADER);
  }
  return kept;
}
