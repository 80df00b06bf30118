/**
 * The fields that a pipeline's events actually contain, for completion in the mapping builder. Read on demand from retained events, so
 * they cost ingest and processing nothing. This thread only reads their bytes: the read thread parses them, applies the current privacy rules and
 * collects the fields.
 */
import { randomUUID } from 'node:crypto';
import { eventsTopic } from '../event-record.ts';
import type { Clock } from '../runtime/clock.ts';
import type { SnapshotSource } from '../snapshot/types.ts';
import type { EventLog, PackedRecords } from '../stores/event-log/port.ts';
import type { ObserveStore } from '../stores/observe/schema.ts';

const HOUR = 3_600_000;
/** Samples the newest events and some before each of these ages: an event that is rare today may have occurred yesterday. */
const SAMPLES = [
  { age_ms: 0, events: 1_000 },
  { age_ms: HOUR, events: 250 },
  { age_ms: 6 * HOUR, events: 250 },
  { age_ms: 24 * HOUR, events: 250 },
  { age_ms: 72 * HOUR, events: 250 },
  { age_ms: 144 * HOUR, events: 250 },
] as const;

interface ObservedFieldsDeps {
  log: EventLog;
  clock: Clock;
  observe: ObserveStore;
  snapshots: Pick<SnapshotSource, 'current'>;
}
/** Resolves with the JSON text of the answer. */
export async function observedFields(deps: ObservedFieldsDeps, orgId: string, pipelineId: string): Promise<string> {
  const { organisations, pipelines } = deps.snapshots.current();
  const pii = organisations.get(orgId)?.config.pii_rules;
  const rules = { org_id: orgId, pii, secrets: pipelines.get(pipelineId)?.secrets ?? [] };
  const sample = randomUUID();
  let ended = false;
  const send = async ({ bytes, ends }: SampledEvents, last: boolean): Promise<string | undefined> => {
    ended = last;
    return await deps.observe.thread.call('collectFields', [{ sample, rules, bytes, ends, last }], [bytes.buffer]);
  };
  try {
    let events = none();
    for await (const next of sampled(deps, pipelineId)) {
      if (events.ends.length > 0) await send(events, false);
      events = next;
    }
    return (await send(events, true)) ?? '';
  } finally {
    // The thread keeps what it has collected until the last chunk.
    if (!ended) await send(none(), true);
  }
}

type SampledEvents = Pick<PackedRecords, 'bytes' | 'ends'>;
const none = (): SampledEvents => ({ bytes: new Uint8Array(0), ends: [] });

/** No event twice: the samples go back in time, and each begins behind the one before. */
async function* sampled({ log, clock }: ObservedFieldsDeps, pipelineId: string): AsyncGenerator<SampledEvents> {
  let oldest: string | undefined;
  for (const { age_ms, events } of SAMPLES) {
    const before = age_ms === 0 ? {} : { to: new Date(clock.now() - age_ms) };
    for await (const packed of log.readPacked(eventsTopic(pipelineId), {
      ...before,
      ...(oldest !== undefined && { after: oldest }),
      limit: events,
    })) {
      oldest = packed.oldest;
      yield packed;
    }
  }
}
