/** Compares two revisions on the last retained events, to show what would change before a pin is moved. */
import { isDeepStrictEqual } from 'node:util';
import { finish, type Steps } from '@firsthand/core/steps.ts';
import { weigh } from '@firsthand/core/value-size.ts';
import { decodeEventRecordInSteps, eventsTopic } from '../event-record.ts';
import { atStep } from '../runtime/stall-watch.ts';
import { endLongTurn, finishInLongTurns, inBulkTurn, VERY_LARGE_BYTES } from '../runtime/turns.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import type { Rehearsal, Rehearse } from './rehearse.ts';

const MOST_EXAMPLES = 10;
/** Of all examples together, in characters: the requests of a single event have up to 16 MB. */
const MOST_IN_EXAMPLES = 2_000_000;

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
  let left = MOST_IN_EXAMPLES;
  for await (const record of log.read(eventsTopic(pipelineId), { limit, reverse: true })) {
    const bytes = record.data.length;
    const { event } = await inTurns(decodeEventRecordInSteps(record.data), bytes);
    const before = await inTurns(from(event, now, bytes), bytes);
    const after = await inTurns(to(event, now, bytes), bytes);
    diff.compared++;
    if (before.dropped === null && after.dropped !== null) diff.dropped_by_to++;
    if (await inTurn(bytes, () => isDeepStrictEqual(sent(before), sent(after)))) continue;
    diff.changed++;
    if (diff.examples.length === MOST_EXAMPLES) continue;
    const example = { event_id: event.event_id, before: sent(before), after: sent(after) };
    const size = weigh(example, left);
    if (size > left) continue;
    left -= size;
    diff.examples.push(example);
  }
  return diff;
}

/** A large event takes a turn for each step: together they would hold the loop for 150 ms. */
function inTurn<T>(bytes: number, work: () => T): Promise<T> {
  return inBulkTurn(bytes, () => {
    atStep('revision diff');
    return work();
  });
}

async function inTurns<T>(steps: Steps<T>, bytes: number): Promise<T> {
  if (bytes <= VERY_LARGE_BYTES) return await inTurn(bytes, () => finish(steps));
  await endLongTurn();
  return await finishInLongTurns(steps, () => atStep('revision diff'));
}

function sent({ requests, dropped, failed }: Rehearsal) {
  return { requests, dropped, failed };
}
