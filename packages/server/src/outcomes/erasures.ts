/**
 * Removes the records of erased persons from the log. An erasure is a record in the topic `erasures`, so it survives a restart. It is retried
 * until every integration has settled the events.
 */
import { randomUUID } from 'node:crypto';
import { deadLetterTopic, isOrReplays } from '../event-record.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Append, Consumer, Delivery, EventLog } from '../stores/event-log/port.ts';
import type { Leases } from '../stores/leases/port.ts';
import { outageOf } from '../stores/outages.ts';
import type { RowWriter } from './row-writer.ts';

export const ERASURES_TOPIC = 'erasures';
const ERASER_GROUP = 'eraser';
const AGAIN_MS = 60_000;
/** Per record of the topic. */
const MOST_PLACES = 2_000;
/**
 * Settled records are removed from the log within this time: from the topics of events within a minute, from the topic of outcomes when
 * they expire after an hour.
 */
export const LOG_ERASED_WITHIN_MS = 65 * 60_000;

export interface Erasure {
  /**
   * Positions by topic, and the ids of their events' records. A record of another event stays: after a restore the position may be that
   * one's. Without ids, which JSON writes as null: erasures of earlier versions, and those of replays and dead letters.
   */
  places: [topic: string, positions: string[], records?: string[] | null | undefined][];
  /** Ids of events' records, whose replays and dead letters are removed too. */
  ids: string[];
  /** The ids of the places are such ids as well, once their records are gone: until then an integration may give one of them up. */
  letters?: boolean | undefined;
}

export function erasureAppends({ places, ids, letters }: Erasure): Append[] {
  const parts: Erasure[] = [];
  for (const [topic, positions, records] of places)
    for (let i = 0; i < positions.length; i += MOST_PLACES) {
      const to = i + MOST_PLACES;
      parts.push({ places: [[topic, positions.slice(i, to), records?.slice(i, to)]], ids: [], letters });
    }
  for (let i = 0; i < ids.length; i += MOST_PLACES) parts.push({ places: [], ids: ids.slice(i, i + MOST_PLACES) });
  if (parts.length === 0) return [];
  return [{ topic: ERASURES_TOPIC, records: parts.map((part) => ({ id: randomUUID(), data: Buffer.from(JSON.stringify(part)) })) }];
}

/** `record`: the id of the event's record. A record that was found twice is one place. */
export function placesByTopic(found: readonly { topic: string | null; position: string | null; record: string }[]): Erasure['places'] {
  const places = new Map<string, Map<string, { position: string; record: string }>>();
  for (const { topic, position, record } of found) {
    if (topic === null || position === null) continue;
    const ofTopic = places.get(topic) ?? new Map<string, { position: string; record: string }>();
    places.set(topic, ofTopic);
    ofTopic.set(`${position} ${record}`, { position, record });
  }
  return [...places].map(([topic, ofTopic]) => {
    const all = [...ofTopic.values()];
    return [topic, all.map(({ position }) => position), all.map(({ record }) => record)];
  });
}

export interface EraserDeps {
  log: EventLog;
  leases: Leases;
  rowWriter: Pick<RowWriter, 'removeLetters'>;
  logger: Logger;
}

/** A lease allows one eraser at a time. */
export function startEraser(deps: EraserDeps): { stop(): Promise<void> } {
  const options = { start: 'beginning', maxInFlight: 1_000, maxBatch: 10 } as const;
  let consumer: Consumer | undefined;
  return deps.leases.share(['eraser'], {
    async won() {
      consumer = deps.log.consume(ERASURES_TOPIC, ERASER_GROUP, options, async (batch) => {
        for (const delivery of batch) await eraseOrLater(deps, delivery);
      });
    },
    async lost() {
      await consumer?.stop();
      consumer = undefined;
    },
  });
}

/** An erasure that fails for a reason of its own is tried again later: it must not hold up those of others. */
async function eraseOrLater(deps: EraserDeps, delivery: Delivery): Promise<void> {
  try {
    await eraseOne(deps, delivery);
  } catch (error) {
    if (outageOf(error as Error) !== undefined) throw error;
    deps.logger.error({ err: error, erasure: delivery.record.id }, 'records of erased events not removed, retrying in a minute');
    await delivery.retryIn(AGAIN_MS, delivery.state);
  }
}

async function eraseOne({ log, rowWriter, logger }: EraserDeps, delivery: Delivery): Promise<void> {
  const wanted = (delivery.state ?? JSON.parse(Buffer.from(delivery.record.data).toString('utf8'))) as Erasure;
  const left: Erasure['places'] = [];
  const gone: string[] = [];
  let count = 0;
  for (const [topic, positions, ids] of [...wanted.places, ...(await placesOf(log, new Set(wanted.ids)))]) {
    const records = ids ?? undefined;
    const own = records === undefined ? positions : await heldBy(log, topic, positions, records);
    const unsettled = new Set(await log.erase(topic, own));
    count += own.length - unsettled.size;
    const waits = (_: string, i: number) => unsettled.has(positions[i]!);
    if (unsettled.size > 0) left.push([topic, positions.filter(waits), records?.filter(waits)]);
    if (wanted.letters && records !== undefined) gone.push(...records.filter((record, i) => !waits(record, i)));
  }
  if (delivery.state !== undefined) await rowWriter.removeLetters(wanted.ids);
  if (count > 0) logger.info({ records: count, waiting: left.length > 0 }, 'records of erased events removed from the log');
  // An event that waited for a retry may have become a dead letter since. Its row is there a minute later.
  if (left.length > 0 || gone.length > 0)
    await delivery.retryIn(AGAIN_MS, { places: left, ids: gone, ...(wanted.letters && { letters: true }) } satisfies Erasure);
  else await delivery.ack();
}

/** The positions that hold the event of these ids, or a replay of it. */
async function heldBy(log: EventLog, topic: string, positions: readonly string[], records: readonly string[]): Promise<string[]> {
  const held: string[] = [];
  for (const [i, position] of positions.entries()) {
    const found = await log.get(topic, position);
    if (found !== undefined && isOrReplays(found.id, records[i]!)) held.push(position);
  }
  return held;
}

/** Replays and dead letters are few, and their records' ids begin with the id of the event's record. */
async function placesOf(log: EventLog, ids: ReadonlySet<string>): Promise<Erasure['places']> {
  if (ids.size === 0) return [];
  const places: Erasure['places'] = [];
  for (const [prefix, eventOf] of [
    ['replay.', withoutReplay],
    [deadLetterTopic(''), ofDeadLetter],
  ] as const)
    for (const topic of await log.topics(prefix)) {
      const positions: string[] = [];
      for await (const { id, position } of log.read(topic, { limit: Number.MAX_SAFE_INTEGER }))
        if (ids.has(eventOf(id)) || ids.has(withoutReplay(eventOf(id)))) positions.push(position);
      if (positions.length > 0) places.push([topic, positions]);
    }
  return places;
}
function withoutReplay(id: string): string {
  return id.replace(/#[^#]*$/, '');
}
/** `<record of the event or replay>#<integration>#dead` */
function ofDeadLetter(id: string): string {
  return id.replace(/#[^#]*#dead$/, '');
}
