import pino from 'pino';
import { expect, test } from 'vitest';
import { type Delivery, type EventLog, LogUnavailable, type StoredRecord } from '../stores/event-log/port.ts';
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

// What JSON made of their missing ids was taken for ids: the erasure failed for ever, and with it those of every organisation.
test('a replay and a dead letter that wait for a retry at the erasure are removed once they are settled', async () => {
  const topics = new Map([
    ['replay.int', [stored('pl:e1#rpl', '3'), stored('pl:e2#rpl', '4')]],
    ['dlq-delivery-int', [stored('pl:e1#int#dead', '7')]],
  ]);
  const unsettled = new Set(['3', '7']);
  const eraser = await rounds({ places: [], ids: ['pl:e1'] }, topics, unsettled);
  expect(await eraser.round()).toBe(false);
  expect(await eraser.round()).toBe(false);
  unsettled.clear();
  expect(await eraser.round()).toBe(true);
  expect([...topics.values()].flat().map(({ id }) => id)).toEqual(['pl:e2#rpl']);
});

test('an erasure that fails for a reason of its own is tried again later, and the next one is not held up', async () => {
  const erased: string[] = [];
  let handle: ((batch: Delivery[]) => Promise<void>) | undefined;
  const log = {
    consume: (_topic: string, _group: string, _options: object, given: typeof handle) => {
      handle = given;
      return { stop: async () => {} };
    },
    async erase(topic: string) {
      if (topic === 'events.damaged') throw new RangeError('the block is damaged');
      if (topic === 'events.away') throw new LogUnavailable('no log');
      erased.push(topic);
      return [];
    },
  } as unknown as EventLog;
  const leases = { share: (_names: string[], { won }: { won(name: string): Promise<void> }) => void won('eraser') } as unknown as Leases;
  startEraser({ log, leases, logger: pino({ level: 'silent' }), rowWriter: { removeLetters: async () => {} } });
  const calls: string[] = [];
  const deliveryOf = (topic: string) => {
    const [append] = erasureAppends({ places: [[topic, ['1']]], ids: [] });
    return {
      record: { ...append!.records[0]! },
      state: undefined,
      ack: async () => void calls.push(`${topic} done`),
      retryIn: async (delay: number) => void calls.push(`${topic} again in ${delay}`),
    } as unknown as Delivery;
  };
  const unreadable = { ...deliveryOf('events.x'), record: { id: 'x', data: Buffer.from('{') } } as unknown as Delivery;
  await handle!([unreadable, deliveryOf('events.damaged'), deliveryOf('events.sound')]);
  expect(erased).toEqual(['events.sound']);
  expect(calls).toEqual(['events.x again in 60000', 'events.damaged again in 60000', 'events.sound done']);
  await expect(handle!([deliveryOf('events.away')])).rejects.toThrow('no log');
});
