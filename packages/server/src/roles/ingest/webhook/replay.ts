import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import type { IngestRules } from '../../../snapshot/ingest-rules.ts';
import type { CompiledWebhookSource } from '../../../snapshot/webhook-source.ts';
import type { Append } from '../../../stores/event-log/port.ts';
import { convertWebhook } from './convert.ts';
import { sourceUrls } from './urls.ts';

export type WebhookReplay = { ok: true; appends: Append[] } | { ok: false; reason: string };

/**
 * A kept webhook once more, under the source's present secret and mapping, with the time of receipt as now. The records
 * keep the provider's event id, so that a retry of the provider which came through meanwhile is not delivered twice.
 */
export function replayWebhook(
  letter: DeadLetter,
  source: CompiledWebhookSource,
  rules: IngestRules,
  settings: { ingestUrl: string | undefined },
): WebhookReplay {
  const { event } = letter;
  if (letter.stage !== 'webhook' || !('headers' in event)) return { ok: false, reason: 'This dead letter is no webhook.' };
  if (event.truncated) return { ok: false, reason: 'Only a part of this webhook was kept: it cannot be verified again.' };
  const converted = convertWebhook(source, rules, {
    headers: event.headers,
    body: Buffer.from(event.body),
    receivedAt: Date.parse(event.received_at),
    urls: sourceUrls(source.source.id, settings.ingestUrl, event.headers.host ?? ''),
    replayOf: letter.id,
  });
  if (!converted.ok) return converted;
  return { ok: true, appends: converted.records.map(({ topic, record }) => ({ topic, records: [record] })) };
}
