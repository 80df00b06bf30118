/**
 * Makes finished events durable, many at a time, in the order they finished.
 *
 * Processed events, outcomes, visitors and acknowledgements are one transaction on engines that have them. On others they are
 * written in this order. A crash after the append processes the same events again from the same saved visitors, with the same
 * ids and results, which the log drops as duplicates. Saving visitors first would let an earlier event see what a later one
 * changed; acknowledging first would lose events.
 */
import { type VisitorState, worthSaving } from '@firsthand/core/process/visitor.ts';
import { outcomesTopic } from '../../outcomes/outcome-log.ts';
import { type Append, type AppendResult, type EventLog, type LogRecord, LogUnavailable } from '../../stores/event-log/port.ts';
import type { VisitorStore } from '../../stores/visitors/port.ts';
import type { ProcessDeps } from './deps.ts';
import { eventAppendOf, type Finished, outcomeRecordsOf } from './processed-records.ts';

interface VisitorLane {
  saved: VisitorState;
  epoch: number;
}
export interface Done extends Finished {
  /** The visitor after this event; undefined for an event without one. */
  visitor: { org_id: string; anonymous_id: string; state: VisitorState; lane: VisitorLane; epoch: number } | undefined;
}
export interface CommitDeps extends Pick<ProcessDeps, 'clock' | 'logger' | 'settings' | 'snapshots' | 'leavesOutTrace'> {
  log: Pick<EventLog, 'append' | 'ackAll' | 'atomic'>;
  visitors: Pick<VisitorStore, 'save'>;
}

/** Throws where something could not be stored; repeat the call then. */
export async function commit(done: readonly Done[], deps: CommitDeps): Promise<void> {
  // Once per event, so that a repeated call decides the same. A replay is always traced, because a user started it.
  if (deps.leavesOutTrace)
    for (const one of done)
      one.untraced ??= one.record.envelope.replay_of === undefined && deps.leavesOutTrace(one.record.envelope.event_id);
  try {
    await settle(done, { finished: done }, deps);
  } catch (error) {
    if (error instanceof LogUnavailable) throw error;
    // One of them can never be stored (too large for the broker): store each alone to find it.
    await settle(done, await storeOneByOne(done, deps), deps);
  }
}

/** `stored`: positions, where the events' records are stored already. */
async function settle(
  done: readonly Done[],
  { finished, stored }: { finished: readonly Finished[]; stored?: Map<number, string> },
  deps: CommitDeps,
): Promise<void> {
  const events = new Appends();
  if (stored === undefined)
    finished.forEach((one, i) => {
      events.add(eventAppendOf(one), i);
    });
  const now = deps.clock.now();
  await deps.log.ackAll(
    done.map(({ record }) => record.delivery),
    {
      appends: events.all,
      derive(results) {
        const positions = stored ?? events.positions(results);
        const { deadLetterRetentionMs } = deps.settings;
        const records = outcomeRecordsOf(finished, { positions, now, deadLetterRetentionMs, together: deps.log.atomic });
        return outcomeAppends(deps.log, finished, records);
      },
      save: () => saveVisitors(done, deps),
    },
  );
}

/** One topic on an embedded log. Elsewhere each event has a record of its own, in the topic of its ingest partition. */
function outcomeAppends(log: Pick<EventLog, 'atomic'>, finished: readonly Finished[], records: LogRecord[]): Append[] {
  const topicOf = (at: number) => outcomesTopic(log, finished[at]?.record.topic ?? '');
  if (log.atomic) return [{ topic: topicOf(0), records }];
  const byTopic = new Appends();
  for (const [at, record] of records.entries()) byTopic.add({ topic: topicOf(at), records: [record] }, at);
  return byTopic.all;
}

/** Collects appends, records of one topic together. */
class Appends {
  readonly #topics = new Map<string, Append & { from: number[] }>();

  add(append: Append | undefined, from: number): void {
    if (append === undefined) return;
    const { topic, records } = append;
    const known = this.#topics.get(topic);
    if (known === undefined) this.#topics.set(topic, { topic, records, from: records.map(() => from) });
    else
      for (const record of records) {
        known.records.push(record);
        known.from.push(from);
      }
  }
  get all(): Append[] {
    return [...this.#topics.values()];
  }
  /** The position of each record, by the number it was added under. */
  positions(results: readonly AppendResult[]): Map<number, string> {
    const positions = new Map<number, string>();
    let topic = 0;
    for (const { from } of this.#topics.values()) {
      const result = results[topic++];
      from.forEach((index, r) => {
        const position = result?.positions[r];
        if (position !== undefined) positions.set(index, position);
      });
    }
    return positions;
  }
}

/**
 * Stores each event's record alone. An event that cannot be stored becomes a dead letter without its body, and one whose outcome cannot be
 * stored has an outcome without event and decisions.
 */
async function storeOneByOne(done: readonly Done[], deps: CommitDeps): Promise<{ finished: Finished[]; stored: Map<number, string> }> {
  const finished: Finished[] = [];
  const stored = new Map<number, string>();
  for (const [i, one] of done.entries()) {
    try {
      const append = eventAppendOf(one);
      const [result] = append ? await deps.log.append([append]) : [];
      const position = result?.positions[0];
      if (position !== undefined) stored.set(i, position);
      finished.push(await withStorableOutcome(one, position, deps));
    } catch (error) {
      if (error instanceof LogUnavailable) throw error;
      const { event_id, type, timestamp } = one.result.event;
      const reason = `the processed event cannot be stored: ${(error as Error).message}`;
      deps.logger.error({ event_id, error: String(error) }, 'processed event cannot be stored, dead letter without body');
      const event = { event_id, type, timestamp, context: {} };
      finished.push({ record: one.record, result: { kind: 'failed', reason, event, decisions: [], visitor: undefined } });
    }
  }
  return { finished, stored };
}

/** On a log without transactions its outcome is stored here; `settle` appends it again under the same id, which the log drops. */
async function withStorableOutcome(one: Done, position: string | undefined, deps: CommitDeps): Promise<Finished> {
  const positions = new Map(position === undefined ? [] : [[0, position]]);
  const { deadLetterRetentionMs } = deps.settings;
  try {
    const records = outcomeRecordsOf([one], { positions, now: deps.clock.now(), deadLetterRetentionMs, together: false });
    if (!deps.log.atomic) await deps.log.append(outcomeAppends(deps.log, [one], records));
    return one;
  } catch (error) {
    if (error instanceof LogUnavailable) throw error;
    const { record, result, untraced } = one;
    const { properties: _properties, traits: _traits, ...names } = result.event;
    const { event_id } = names;
    deps.logger.error({ event_id, error: String(error) }, 'outcome of an event cannot be stored, stored without event and decisions');
    const event = { ...names, context: {} };
    return { record, result: { ...result, event, decisions: [] }, ...(untraced && { untraced }) };
  }
}

async function saveVisitors(done: readonly Done[], deps: CommitDeps): Promise<void> {
  const latest = new Map<VisitorLane, NonNullable<Done['visitor']>>();
  // State of a visitor who was erased in the meantime is discarded.
  for (const { visitor } of done) if (visitor !== undefined && visitor.epoch === visitor.lane.epoch) latest.set(visitor.lane, visitor);
  const { organisations } = deps.snapshots.current();
  const changed = [...latest.values()].filter(({ org_id, lane, state }) =>
    worthSaving(lane.saved, state, organisations.get(org_id)?.session_timeout_ms ?? 0),
  );
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
