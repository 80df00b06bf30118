import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import type { SecretDigest } from '../../secrets/secret-digest.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import type { CompiledWebhookSource } from '../../snapshot/webhook-source.ts';
import type { Append } from '../../stores/event-log/port.ts';
import { isGzip, unpack } from '../parse-body.ts';
import { convertInTurns, MAX_WEBHOOK_BYTES } from './convert.ts';
import { keptSecretOf } from './kept-secret.ts';
import { sourceUrls } from './urls.ts';

export type WebhookReplay = { ok: true; appends: Append[] } | { ok: false; reason: string };

/**
 * Sends a kept webhook again, under the source's current secret and mapping, with its time of receipt as now. Records keep the
 * provider's event id: if a retry of the provider was accepted in the meantime, the replay is a duplicate. Without such an id they have
 * one that derives from `replayId`.
 */
export async function replayWebhook(
  letter: DeadLetter,
  source: CompiledWebhookSource,
  rules: IngestRules,
  settings: { ingestUrl: string | undefined; digestSecret: SecretDigest },
  replayId: string = letter.id,
): Promise<WebhookReplay> {
  const { event } = letter;
  const { id } = source.source;
  if (letter.stage !== 'webhook' || !('headers' in event)) return { ok: false, reason: 'This dead letter is not a webhook.' };
  if (event.truncated && event.body_base64 === undefined)
    return { ok: false, reason: 'Only part of this webhook was kept, so its signature cannot be verified.' };
  const body = event.body_base64 === undefined ? Buffer.from(event.body) : Buffer.from(event.body_base64, 'base64');
  const unpacked = isGzip(body) ? await unpack(body, MAX_WEBHOOK_BYTES) : undefined;
  if (unpacked?.ok === false) return { ok: false, reason: 'The body is not valid gzip.' };
  const urls = new Set([...(event.urls ?? []), ...sourceUrls(id, settings.ingestUrl, event.headers.host ?? '')]);
  const converted = await convertInTurns(source, rules, {
    headers: event.headers,
    query: event.query ?? {},
    body,
    ...(unpacked === undefined ? {} : { unpacked: unpacked.bytes }),
    receivedAt: Date.parse(event.received_at),
    urls: [...urls],
    replay: { of: letter.id, keptSecret: keptSecretOf(settings.digestSecret, id) },
    digest: replayId,
  });
  if (!converted.ok) return converted;
  return { ok: true, appends: converted.records.map(({ topic, record }) => ({ topic, records: [record] })) };
}
