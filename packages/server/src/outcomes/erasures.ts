/**
 * Removes the records of erased persons from the log. An erasure leaves a record in the topic `erasures`, so that it survives a restart, and
 * is tried again while an integration has not settled all of the events.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from '../runtime/logger.ts';
import type { Append, Consumer, Delivery, EventLog } from '../stores/event-log/port.ts';
import type { Leases } from '../stores/leases/port.ts';

export const ERASURES_TOPIC = 'erasures';
const ERASER_GROUP = 'eraser';
const AGAIN_MS = 60_000;
/** Per record of the topic. */
const MOST_PLACES = 5_000;
/**
 * What is settled is gone from the log after this time: the topics of events within a minute, the topic of outcomes when its records expire
 * after an hour.
 */
export const LOG_ERASED_WITHIN_MS = 65 * 60_000;

export interface Erasure {
  /** Positions by topic. */
  places: [topic: string, positions: string[]][];
  /** Ids of records in the topics of replays and dead letters. The ids of replays begin with them. */
  ids: string[];
}

export function erasureAppends({ places, ids }: Erasure): Append[] {
  const parts: Erasure[] = [];
  for (const [topic, positions] of places)
    for (let i = 0; i < positions.length; i += MOST_PLACES) parts.push({ places: [[topic, positions.slice(i, i + MOST_PLACES)]], ids: [] });
  for (let i = 0; i < ids.length; i += MOST_PLACES) parts.push({ places: [], ids: ids.slice(i, i + MOST_PLACES) });
  if (parts.length === 0) return [];
  return [{ topic: ERASURES_TOPIC, records: parts.map((part) => ({ id: randomUUID(), data: Buffer.from(JSON.stringify(part)) })) }];
}

/** A lease allows one eraser at a time. */
export function startEraser({ log, leases, logger }: { log: EventLog; leases: Leases; logger: Logger }): { stop(): Promise<void> } {
  const options = { start: 'beginning', maxInFlight: 1_000, maxBatch: 10 } as const;
  let consumer: Consumer | undefined;
  return leases.share(['eraser'], {
    async won() {
      consumer = log.consume(ERASURES_TOPIC, ERASER_GROUP, options, async (batch) => {
        for (const delivery of batch) await eraseOne(log, logger, delivery);
      });
    },
    async lost() {
      await consumer?.stop();
      consumer = undefined;
    },
  });
}

async function eraseOne(log: EventLog, logger: Logger, delivery: Delivery): Promise<void> {
  const wanted = (delivery.state ?? JSON.parse(Buffer.from(delivery.record.data).toString('utf8'))) as Erasure;
  const places = [...wanted.places, ...(await placesOf(log, new Set(wanted.ids)))];
  const left: Erasure['places'] = [];
  let records = 0;
  for (const [topic, positions] of places) {
    const unsettled = await log.erase(topic, positions);
    records += positions.length - unsettled.length;
    if (unsettled.length > 0) left.push([topic, unsettled]);
  }
  if (records > 0) logger.info({ records, waiting: left.length > 0 }, 'records of an erased person removed from the log');
  if (left.length > 0) await delivery.retryIn(AGAIN_MS, { places: left, ids: [] } satisfies Erasure);
  else await delivery.ack();
}

/** Replays and dead letters are few, and their records carry the id of the event or letter. */
async function placesOf(log: EventLog, ids: ReadonlySet<string>): Promise<Erasure['places']> {
  if (ids.size === 0) return [];
  const places: Erasure['places'] = [];
  for (const prefix of ['replay.', 'dlq-'])
    for (const topic of await log.topics(prefix)) {
      const positions: string[] = [];
      for await (const { id, position } of log.read(topic, { limit: Number.MAX_SAFE_INTEGER }))
        if (ids.has(id) || ids.has(id.replace(/#[^#]*$/, ''))) positions.push(position);
      if (positions.length > 0) places.push([topic, positions]);
    }
  return places;
}
