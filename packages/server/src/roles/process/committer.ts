/**
 * Makes finished events durable, many at a time, in the order they finished.
 *
 * Append the processed events first, then their outcomes and the visitors, then acknowledge. A crash after the append processes
 * the same events again from the same saved visitors: the same ids and the same results, which the log drops as known. Saving
 * first would show an earlier event what a later one taught; acknowledging first would lose events without a trace.
 */
import { type VisitorState, worthSaving } from '@firsthand/core/process/visitor.ts';
import { type Append, type EventLog, LogUnavailable } from '../../stores/event-log/port.ts';
import type { VisitorStore } from '../../stores/visitors/port.ts';
import { eventAppendOf, type Finished, outcomeAppendOf } from './outcome-of.ts';
import type { ProcessDeps } from './ports.ts';

export interface Done extends Finished {
  /** The visitor after this event; undefined for an event without one. */
  visitor: { org_id: string; anonymous_id: string; state: VisitorState; lane: { saved: VisitorState } } | undefined;
}
export interface CommitDeps extends Pick<ProcessDeps, 'clock' | 'logger' | 'settings'> {
  log: Pick<EventLog, 'append'>;
  visitors: Pick<VisitorStore, 'save'>;
}

/** Throws where something could not be stored: the same call may be made again. */
export async function commit(done: readonly Done[], deps: CommitDeps): Promise<void> {
  let finished: readonly Finished[] = done;
  let positions: (string | undefined)[];
  try {
    positions = await appendInOrder(done.map(eventAppendOf), deps);
  } catch (error) {
    if (error instanceof LogUnavailable) throw error;
    // Something among them cannot be stored at all (too large for the broker): find it, and let the others through.
    ({ finished, positions } = await appendOneByOne(done, deps));
  }
  const now = deps.clock.now();
  const retention = deps.settings.deadLetterRetentionMs;
  const outcomes = finished.map((one, i) => outcomeAppendOf(one, positions[i], now, retention));
  await Promise.all([appendInOrder(outcomes, deps), saveVisitors(done, deps)]);
  for (const settled of await Promise.allSettled(done.map(({ work }) => work.delivery.ack()))) {
    // It is stored; unacknowledged, it comes again and is dropped as known.
    if (settled.status === 'rejected') deps.logger.warn({ error: String(settled.reason) }, 'a processed event could not be acknowledged');
  }
}

/** One step for all, records of a topic together; the position of each, where it was stored now. */
async function appendInOrder(appends: readonly (Append | undefined)[], deps: CommitDeps): Promise<(string | undefined)[]> {
  const topics = new Map<string, Append & { from: number[] }>();
  for (const [i, append] of appends.entries()) {
    if (append === undefined) continue;
    const known = topics.get(append.topic);
    if (known === undefined) topics.set(append.topic, { topic: append.topic, records: [...append.records], from: [i] });
    else {
      known.records.push(...append.records);
      known.from.push(i);
    }
  }
  const positions = new Array<string | undefined>(appends.length).fill(undefined);
  if (topics.size === 0) return positions;
  const merged = [...topics.values()];
  const results = await deps.log.append(merged.map(({ topic, records }) => ({ topic, records })));
  for (const [t, { from }] of merged.entries()) for (const [r, i] of from.entries()) positions[i] = results[t]?.positions[r];
  return positions;
}

async function appendOneByOne(
  done: readonly Done[],
  deps: CommitDeps,
): Promise<{ finished: Finished[]; positions: (string | undefined)[] }> {
  const finished: Finished[] = [];
  const positions: (string | undefined)[] = [];
  for (const one of done) {
    try {
      positions.push((await appendInOrder([eventAppendOf(one)], deps))[0]);
      finished.push(one);
    } catch (error) {
      if (error instanceof LogUnavailable) throw error;
      const { event_id, type, timestamp } = one.result.event;
      const reason = `the processed event cannot be stored: ${(error as Error).message}`;
      deps.logger.error({ event_id, error: String(error) }, 'a processed event cannot be stored; its dead letter is without its body');
      positions.push(undefined);
      const event = { event_id, type, timestamp, context: {} };
      finished.push({ work: one.work, result: { kind: 'failed', reason, event, decisions: [], visitor: undefined } });
    }
  }
  return { finished, positions };
}

async function saveVisitors(done: readonly Done[], deps: CommitDeps): Promise<void> {
  const latest = new Map<{ saved: VisitorState }, NonNullable<Done['visitor']>>();
  for (const { visitor } of done) if (visitor !== undefined) latest.set(visitor.lane, visitor);
  const changed = [...latest.values()].filter(({ lane, state }) => worthSaving(lane.saved, state));
  const byOrganisation = Map.groupBy(changed, ({ org_id }) => org_id);
  await Promise.all(
    [...byOrganisation].map(async ([orgId, visitors]) => {
      await deps.visitors.save(
        orgId,
        visitors.map(({ anonymous_id, state }) => [anonymous_id, state]),
      );
      for (const { lane, state } of visitors) lane.saved = state;
    }),
  );
}
