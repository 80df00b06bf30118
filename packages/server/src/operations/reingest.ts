/** Replays dead letters of the stages before delivery through ingest. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { decodeEnvelope, encodeEnvelope, type IngestEnvelope } from '@firsthand/core/event/envelope.ts';
import { eventRecordId, isRecordOf } from '../event-record.ts';
import { replayRejected } from '../intake/replay-rejected.ts';
import { replayWebhook } from '../intake/webhook/replay.ts';
import type { SecretDigest } from '../secrets/secret-digest.ts';
import type { Snapshot } from '../snapshot/types.ts';
import type { Append, EventLog } from '../stores/event-log/port.ts';
import type { StoredDeadLetter } from '../stores/observe/dead-letters.ts';

export interface ReingestDeps {
  log: EventLog;
  snapshot(): Snapshot;
  ingestUrl: string | undefined;
  digestSecret: SecretDigest;
}

/** Empty if it cannot be sent again now: its source or pipeline is deleted or disabled, or it would be rejected as before. */
export async function reingest(deps: ReingestDeps, letter: StoredDeadLetter, replayId: string): Promise<Append[]> {
  if (letter.stage === 'ingest') return rejectedAgain(deps, letter);
  return letter.stage === 'webhook' ? webhookAgain(deps, letter, replayId) : processAgain(deps, letter, replayId);
}

function rejectedAgain(deps: ReingestDeps, letter: StoredDeadLetter): Append[] {
  const pipeline = deps.snapshot().pipelines.get(letter.pipeline_id);
  const result = pipeline?.ingest.enabled ? replayRejected(letter, pipeline.ingest) : undefined;
  return result?.ok ? [result.append] : [];
}

async function webhookAgain(deps: ReingestDeps, letter: StoredDeadLetter, replayId: string): Promise<Append[]> {
  const snapshot = deps.snapshot();
  const source = snapshot.webhookSources.get(letter.webhook_source_id ?? '');
  const pipeline = snapshot.pipelines.get(source?.source.pipeline_id ?? letter.pipeline_id);
  if (!source?.source.enabled || !pipeline?.ingest.enabled) return [];
  const result = await replayWebhook(letter, source, pipeline.ingest, deps, replayId);
  return result.ok ? result.appends : [];
}

async function processAgain(deps: ReingestDeps, letter: StoredDeadLetter, replayId: string): Promise<Append[]> {
  const pipeline = deps.snapshot().pipelines.get(letter.pipeline_id);
  if (!pipeline) return [];
  const id = eventRecordId(letter.pipeline_id, letter.event_id, replayId);
  const raw = letter.raw && (await deps.log.get(letter.raw.topic, letter.raw.position));
  if (raw && letter.raw && isRecordOf(raw.id, letter.pipeline_id, letter.event_id)) {
    const { envelope, body } = decodeEnvelope(raw.data);
    return [{ topic: letter.raw.topic, records: [{ id, data: encodeEnvelope({ ...envelope, replay_of: letter.id }, body) }] }];
  }
  const event = letter.event as CanonicalEvent;
  const envelope: IngestEnvelope = {
    v: 1,
    org_id: letter.org_id,
    pipeline_id: letter.pipeline_id,
    event_id: letter.event_id,
    received_at: Date.parse(letter.created_at),
    source: 'server',
    replay_of: letter.id,
    ...(event.anonymous_id === undefined ? {} : { anonymous_id: event.anonymous_id }),
  };
  const visitor = event.anonymous_id ?? event.user_id ?? letter.event_id;
  const topic = pipeline.ingest.partitions.topicOf(letter.org_id, visitor, Date.now());
  return [{ topic, records: [{ id, data: encodeEnvelope(envelope, Buffer.from(JSON.stringify(clientBody(event)))) }] }];
}

/** The canonical event as a client would send it. */
function clientBody({ event_id, type, original_type, anonymous_id, user_id, group_id, ...event }: CanonicalEvent): Record<string, unknown> {
  return { ...event, type: original_type ?? type, messageId: event_id, anonymousId: anonymous_id, userId: user_id, groupId: group_id };
}
