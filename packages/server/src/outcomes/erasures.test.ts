import pino from 'pino';
import { expect, test } from 'vitest';
import type { Delivery, EventLog, StoredRecord } from '../stores/event-log/port.ts';
import type { Leases } from '../stores/leases/port.ts';
import { type Erasure, erasureAppends, startEraser } from './erasures.ts';

const stored = (id: string, position: string): StoredRecord => ({ id, position, time: 0, data: Buffer.alloc(0) });

/** Runs the eraser on one erasure, round by round. */
async function rounds(erasure: Erasure, topics: Map<string, StoredRecord[]>, unsettled: Set<string>) {
  const removed: string[][] = [];
  let handle: ((batch: Delivery[]) => Promise<void>) | undefined;
  const log = {
    consume: (_topic: string, _group: string, _options: object, given: typeof handle) => {
      handle = given;
      return { stop: async () => {} };
    },
    topics: async (prefix: string) => [...topics.keys()].filter((name) => name.startsWith(prefix)),
    async *read(topic: string) {
      yield* topics.get(topic) ?? [];
    },
    get: async (topic: string, position: string) => topics.get(topic)?.find((record) => record.position === position),
    async erase(topic: string, positions: string[]) {
      const going = positions.filter((position) => !unsettled.has(position));
      topics.set(topic, topics.get(topic)?.filter(({ position }) => !going.includes(position)) ?? []);
      return positions.filter((position) => unsettled.has(position));
    },
  } as unknown as EventLog;
  const leases = { share: (_names: string[], { won }: { won(name: string): Promise<void> }) => void won('eraser') } as unknown as Leases;
  startEraser({
    log,
    leases,
    logger: pino({ level: 'silent' }),
    rowWriter: { removeLetters: async (ids) => void removed.push([...ids]) },
  });
  const [append] = erasureAppends(erasure);
  let state: unknown;
  let done = false;
  return {
    removed,
    async round() {
      const delivery = {
        record: { ...append!.records[0]! },
        state,
        ack: async () => void (done = true),
        retryIn: async (_delay: number, next: unknown) => void (state = JSON.parse(JSON.stringify(next))),
      } as unknown as Delivery;
      await handle!([delivery]);
      return done;
    },
  };
}

test('an event that waits for a retry at its erasure and becomes a dead letter later leaves no letter', async () => {
  const topics = new Map([['events.pl', [stored('pl:e1', '1')]]]);
  const unsettled = new Set(['1']);
  const eraser = await rounds({ places: [['events.pl', ['1'], ['pl:e1']]], ids: [], letters: true }, topics, unsettled);
  expect(await eraser.round()).toBe(false);
  unsettled.clear();
  topics.set('dlq-delivery-int', [stored('pl:e1#int#dead', '7'), stored('pl:e2#int#dead', '8')]);
  expect(await eraser.round()).toBe(false);
  expect(await eraser.round()).toBe(true);
  expect(topics.get('events.pl')).toEqual([]);
  expect(topics.get('dlq-delivery-int')?.map(({ id }) => id)).toEqual(['pl:e2#int#dead']);
  expect(eraser.removed).toContainEqual(['pl:e1']);
});

test('a position that holds another event after a restore is left alone', async () => {
  const topics = new Map([['ingest.1', [stored('other:e1', '1'), stored('pl:e1#rpl', '2')]]]);
  const eraser = await rounds({ places: [['ingest.1', ['1', '2'], ['pl:e1', 'pl:e1']]], ids: [] }, topics, new Set());
  expect(await eraser.round()).toBe(true);
  expect(topics.get('ingest.1')?.map(({ id }) => id)).toEqual(['other:e1']);
});
