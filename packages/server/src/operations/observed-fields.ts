/**
 * The fields that a pipeline's events actually contain, for completion in the mapping builder. Read on demand from retained events, so
 * they cost ingest and processing nothing. This thread only reads their bytes: the read thread parses them, applies the current privacy rules and
 * collects the fields.
 */
import { randomUUID } from 'node:crypto';
import { eventsTopic } from '../event-record.ts';
import type { Clock } from '../runtime/clock.ts';
import type { SnapshotSource } from '../snapshot/types.ts';
import type { EventLog, StoredRecord } from '../stores/event-log/port.ts';
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
/** Events that cross to the thread together. */
const CHUNK_BYTES = 524_288;

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
  let [records, bytes, ended]: [Uint8Array[], number, boolean] = [[], 0, false];
  const send = async (last: boolean): Promise<string | undefined> => {
    ended = last;
    const { joined, ends } = join(records, bytes);
    [records, bytes] = [[], 0];
    return await deps.observe.thread.call('collectFields', [{ sample, rules, bytes: joined, ends, last }], [joined.buffer]);
  };
  try {
    for await (const chunk of sampled(deps, pipelineId))
      for (const { data } of chunk) {
        if (bytes + data.length > CHUNK_BYTES && bytes > 0) await send(false);
        records.push(data);
        bytes += data.length;
      }
    return (await send(true)) ?? '';
  } finally {
    // The thread keeps what it has collected until the last chunk.
    if (!ended) await send(true);
  }
}

/** No event twice: the samples go back in time, and one may reach into the next. */
async function* sampled({ log, clock }: ObservedFieldsDeps, pipelineId: string): AsyncGenerator<StoredRecord[]> {
  let oldest: string | undefined;
  for (const { age_ms, events } of SAMPLES) {
    const before = age_ms === 0 ? {} : { to: new Date(clock.now() - age_ms) };
    for await (const chunk of log.readChunks(eventsTopic(pipelineId), { ...before, limit: events, reverse: true })) {
      const [seen, newest, last] = [oldest, chunk.at(0), chunk.at(-1)];
      const isNew = ({ position }: StoredRecord) => seen === undefined || position < seen;
      yield newest !== undefined && isNew(newest) ? chunk : chunk.filter(isNew);
      if (last !== undefined && isNew(last)) oldest = last.position;
    }
  }
}

function join(records: readonly Uint8Array[], bytes: number): { joined: Uint8Array<ArrayBuffer>; ends: number[] } {
  const joined = new Uint8Array(bytes);
  let end = 0;
  const ends = records.map((record) => {
    joined.set(record, end);
    return (end += record.length);
  });
  return { joined, ends };
}
