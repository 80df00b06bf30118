/**
 * Makes finished events durable, many at a time, in the order they finished.
 *
 * Append the processed events first, then save the visitors, then acknowledge. A crash after the append processes the same
 * events again from the same saved visitors: the same ids and the same results, which the log drops as known. Saving first
 * would show an earlier event what a later one taught; acknowledging first would lose events without a trace.
 */
import { type VisitorState, worthSaving } from '@firsthand/core/process/visitor.ts';
import { type Append, type EventLog, LogUnavailable } from '../../stores/event-log/port.ts';
import type { VisitorStore } from '../../stores/visitors/port.ts';
import { appendsOf, type Finished } from './outcome-of.ts';
import type { ProcessDeps } from './ports.ts';

export interface Done extends Finished {
  /** The visitor after this event; undefined for an event without one. */
  visitor: { org_id: string; anonymous_id: string; state: VisitorState; lane: { saved: VisitorState } } | undefined;
}
export interface CommitDeps extends Pick<ProcessDeps, 'clock' | 'logger' | 'settings'> {
  log: Pick<EventLog, 'append'>;
  visitors: Pick<VisitorStore, 'save'>;
}

/** Throws where nothing could be stored: the same call may be made again. */
export async function commit(done: readonly Done[], deps: CommitDeps): Promise<void> {
  const now = deps.clock.now();
  const appends = mergeTopics(done.flatMap((one) => appendsOf(one, now, deps.settings.deadLetterRetentionMs)));
  try {
    await deps.log.append(appends);
  } catch (error) {
    if (error instanceof LogUnavailable || done.length === 0) throw error;
    // Something among them cannot be stored at all (too large for the broker): find it, and let the others through.
    for (const one of done) await commitAlone(one, now, deps, error as Error);
  }
  await saveVisitors(done, deps);
  for (const settled of await Promise.allSettled(done.map(({ work }) => work.delivery.ack()))) {
    // It is stored; unacknowledged, it comes again and is dropped as known.
    if (settled.status === 'rejected') deps.logger.warn({ error: String(settled.reason) }, 'a processed event could not be acknowledged');
  }
}

async function commitAlone(one: Done, now: number, deps: CommitDeps, first: Error): Promise<void> {
  const retention = deps.settings.deadLetterRetentionMs;
  try {
    await deps.log.append(appendsOf(one, now, retention));
  } catch (error) {
    if (error instanceof LogUnavailable) throw error;
    const { event_id, type, timestamp } = one.result.event;
    const reason = `the processed event cannot be stored: ${(error as Error).message ?? first.message}`;
    const result = {
      kind: 'failed',
      reason,
      event: { event_id, type, timestamp, context: {} },
      decisions: [],
      visitor: undefined,
    } as const;
    deps.logger.error({ event_id, error: String(error) }, 'a processed event cannot be stored; its dead letter is without its body');
    await deps.log.append(appendsOf({ work: one.work, result: { ...result, decisions: [] } }, now, retention));
  }
}

/** One entry a topic, records in order. */
function mergeTopics(appends: Append[]): Append[] {
  const topics = new Map<string, Append>();
  for (const { topic, records } of appends) {
    const known = topics.get(topic);
    if (known === undefined) topics.set(topic, { topic, records: [...records] });
    else known.records.push(...records);
  }
  return [...topics.values()];
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
