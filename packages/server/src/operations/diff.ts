/** Compares two revisions on the last retained events, to show what would change before a pin is moved. */
import { isDeepStrictEqual } from 'node:util';
import { decodeEventRecord, eventsTopic } from '../event-record.ts';
import { turns, VERY_LARGE_BYTES } from '../runtime/turns.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import type { Rehearsal, Rehearse } from './rehearse.ts';

const MOST_EXAMPLES = 10;

export interface RevisionDiff {
  compared: number;
  changed: number;
  dropped_by_to: number;
  examples: { event_id: string; before: unknown; after: unknown }[];
}

export async function diffRevisions(
  log: EventLog,
  pipelineId: string,
  limit: number,
  now: number,
  from: Rehearse,
  to: Rehearse,
): Promise<RevisionDiff> {
  const diff: RevisionDiff = { compared: 0, changed: 0, dropped_by_to: 0, examples: [] };
  for await (const record of log.read(eventsTopic(pipelineId), { limit, reverse: true })) {
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
    const { event } = decodeEventRecord(record.data);
    const before = from(event, now);
    const after = to(event, now);
    if (record.data.length > VERY_LARGE_BYTES) turns.tookLong();
    diff.compared++;
    if (before.dropped === null && after.dropped !== null) diff.dropped_by_to++;
    if (isDeepStrictEqual(sent(before), sent(after))) continue;
    diff.changed++;
    if (diff.examples.length < MOST_EXAMPLES) diff.examples.push({ event_id: event.event_id, before: sent(before), after: sent(after) });
  }
  return diff;
}

function sent({ requests, dropped, failed }: Rehearsal) {
  return { requests, dropped, failed };
}
