/** Rejected webhooks are kept as they came, so that they can be replayed once the cause is fixed. */
import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';
import { newId } from '../../../runtime/ids.ts';
import { DIGEST_PREFIX, secretDigest } from '../../../snapshot/webhook-signature.ts';
import type { CompiledWebhookSource } from '../../../snapshot/webhook-source.ts';

const MAX_BODY = 65_536;
const MAX_HEADER = 4_096;
/** The sender's credentials are not kept. */
const OMITTED_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization']);

export function webhookDeadLetter(
  { source }: CompiledWebhookSource,
  { headers, query }: { headers: Readonly<Record<string, string>>; query: Readonly<Record<string, string>> },
  body: Buffer,
  reason: string,
  receivedAt: number,
  retentionMs: number,
): Outcome & { kind: 'dead_lettered' } {
  const id = newId('dlq', receivedAt);
  const text = body.subarray(0, MAX_BODY).toString('utf8');
  // Cut, or not UTF-8: the signature of what is kept cannot be verified.
  const whole = body.length <= MAX_BODY && Buffer.from(text).equals(body);
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
      headers: keptHeaders(source.signature_method === 'shared_secret' ? source.signature_header : null, headers),
      query: { ...query },
      body: text,
      received_at: new Date(receivedAt).toISOString(),
      ...(whole ? {} : { truncated: true }),
    },
    attempts: [],
    reason,
    created_at: new Date(receivedAt).toISOString(),
    expires_at: new Date(receivedAt + retentionMs).toISOString(),
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

/** A shared secret is kept as a digest, which is enough to verify it again. */
function keptHeaders(secretHeader: string | null, headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name === secretHeader?.toLowerCase()) kept[name] = DIGEST_PREFIX + secretDigest(value);
    else if (!OMITTED_HEADERS.has(name) && name !== '__proto__') kept[name] = value.slice(0, MAX_HEADER);
  }
  return kept;
}
