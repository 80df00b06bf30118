import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import type { CompiledWebhookSource } from '../../snapshot/webhook-source.ts';
import type { Append } from '../../stores/event-log/port.ts';
import { convertWebhook } from './convert.ts';
import { sourceUrls } from './urls.ts';

export type WebhookReplay = { ok: true; appends: Append[] } | { ok: false; reason: string };

/**
 * Sends a kept webhook again, under the source's current secret and mapping, with its time of receipt as now. Records keep the
 * provider's event id: if a retry of the provider was accepted in the meantime, the replay is a duplicate.
 */
export function replayWebhook(
  letter: DeadLetter,
  source: CompiledWebhookSource,
  rules: IngestRules,
  settings: { ingestUrl: string | undefined },
): WebhookReplay {
  const { event } = letter;
  if (letter.stage !== 'webhook' || !('headers' in event)) return { ok: false, reason: 'This dead letter is not a webhook.' };
  if (event.truncated) return { ok: false, reason: 'Only part of this webhook was kept, so its signature cannot be verified.' };
  const converted = convertWebhook(source, rules, {
    headers: event.headers,
    query: event.query ?? {},
    body: Buffer.from(event.body),
    receivedAt: Date.parse(event.received_at),
    urls: sourceUrls(source.source.id, settings.ingestUrl, event.headers.host ?? ''),
    replayOf: letter.id,
  });
  if (!converted.ok) return converted;
  return { ok: true, appends: converted.records.map(({ topic, record }) => ({ topic, records: [record] })) };
}
