/** Each group reads independently: every record, once, within its limits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Delivery, StoredRecord } from '../port.ts';
import { BEGINNING, fresh, records, type Stand, texts, until } from './kit.ts';

export function describeGroups({ consume, log, make, reader }: Stand): void {
  describe('groups', () => {
    test('each group gets every record once, in append order', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 50) }]);
      const one = reader(topic, 'one');
      const two = reader(topic, 'two');
      await log().append([{ topic, records: records(topic, 50, 50) }]);
      await until(() => one.seen.length >= 100 && two.seen.length >= 100);
      await sleep(100);
      for (const { seen } of [one, two]) {
        expect(texts(seen.map((delivery) => delivery.record))).toEqual(records(topic, 100).map((r) => Buffer.from(r.data).toString()));
        expect(seen.every((delivery) => delivery.attempt === 1 && delivery.state === undefined)).toBe(true);
      }
    });

    test('records that a group does not include are settled without being handed out, also after a reopen', async () => {
      const topic = fresh();
      const includes = ({ id }: StoredRecord) => Number(id.split('/')[1]) % 3 === 0;
      const { seen, consumer } = reader(topic, 'third', { includes });
      await consumer.started;
      await log().append([{ topic, records: records(topic, 100) }]);
      await until(async () => seen.length >= 34 && (await log().lag(topic, 'third')).waiting === 0);
      expect(texts(seen.map(({ record }) => record))).toEqual(Array.from({ length: 34 }, (_, i) => `data ${3 * i}`));
      await consumer.stop();
      await make().reopen();
      // On JetStream the cursor stops at the last record that was settled by hand, at most a second behind.
      expect((await log().lag(topic, 'third')).waiting).toBeLessThanOrEqual(2);
    });

    test('a group that has started survives a reopen, also without a settlement', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 2) }]);
      const consumer = log().consume(topic, 'g', BEGINNING, async () => {});
      await consumer.started;
      await consumer.stop();
      await make().reopen();
      expect(await log().groups(topic)).toEqual(['g']);
      expect((await log().lag(topic, 'g')).waiting).toBe(2);
    });

    test('a group with a start time gets only newer records, and only its first start time counts', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 2) }]);
      await sleep(50);
      const late = reader(topic, 'late', { start: new Date() });
      await sleep(300);
      await log().append([{ topic, records: records(topic, 2, 2) }]);
      await until(() => late.seen.length >= 2);
      await late.consumer.stop();
      await log().append([{ topic, records: records(topic, 2, 4) }]);
      await make().reopen();
      const again = reader(topic, 'late', { start: 'beginning' });
      await until(() => again.seen.length >= 2);
      await sleep(100);
      expect(texts([...late.seen, ...again.seen].map((delivery) => delivery.record))).toEqual(['data 2', 'data 3', 'data 4', 'data 5']);
    });

    test('after out-of-order settlements and a reopen, only unsettled records are redelivered', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 10) }]);
      const seen: Delivery[] = [];
      const consumer = log().consume(topic, 'g', BEGINNING, async (batch) => void seen.push(...batch));
      await until(() => seen.length === 10);
      await Promise.all([9, 1, 4, 5, 0].map((i) => seen[i]!.ack()));
      expect((await log().lag(topic, 'g')).waiting).toBe(5);
      await consumer.stop();
      await make().reopen();
      const { seen: rest } = reader(topic, 'g');
      await until(() => rest.length >= 5);
      await sleep(100);
      expect(texts(rest.map((delivery) => delivery.record)).sort()).toEqual(['data 2', 'data 3', 'data 6', 'data 7', 'data 8']);
      expect(rest.every((delivery) => delivery.attempt === 1)).toBe(true);
      await until(async () => (await log().lag(topic, 'g')).waiting === 0);
    });

    test('no more in flight than allowed, no more in a batch than allowed, and the next when one is settled', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 30) }]);
      const open: Delivery[] = [];
      let most = 0;
      let total = 0;
      consume(topic, 'g', { maxInFlight: 7, maxBatch: 3 }, async (batch) => {
        expect(batch.length).toBeLessThanOrEqual(3);
        open.push(...batch);
        total += batch.length;
        most = Math.max(most, open.length);
      });
      await until(() => open.length === 7);
      await sleep(200);
      expect(open.length).toBe(7);
      while (total < 30 || open.length > 0) {
        await until(() => open.length > 0);
        await open.shift()!.ack();
      }
      expect(most).toBe(7);
    });

    test('handle is not called while it runs', async () => {
      const topic = fresh();
      let running = 0;
      let most = 0;
      let seen = 0;
      consume(topic, 'g', { maxBatch: 2 }, async (batch) => {
        most = Math.max(most, ++running);
        await sleep(5);
        seen += batch.length;
        await Promise.all(batch.map((delivery) => delivery.ack()));
        running--;
      });
      for (let i = 0; i < 10; i++) await log().append([{ topic, records: records(topic, 3, i * 3) }]);
      await until(() => seen === 30);
      expect(most).toBe(1);
    });

    test('a handler that throws gets its batch again, without those it had settled', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 4) }]);
      const seen: string[] = [];
      let failures = 0;
      consume(topic, 'g', { maxBatch: 4 }, async (batch) => {
        await Promise.all(batch.slice(0, 1).map((delivery) => delivery.ack()));
        seen.push(...texts(batch.map((delivery) => delivery.record)));
        if (failures++ < 2) throw new Error('on purpose');
        await Promise.all(batch.map((delivery) => delivery.ack()));
      });
      await until(async () => failures > 2 && (await log().lag(topic, 'g')).waiting === 0);
      const settledFirst = seen[0]!;
      expect(seen.filter((text) => text === settledFirst).length).toBe(1);
      expect(new Set(seen)).toEqual(new Set(['data 0', 'data 1', 'data 2', 'data 3']));
    });

    test('unsettled records of a stopped consumer are delivered to the next one', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 5) }]);
      const held: Delivery[] = [];
      const consumer = log().consume(topic, 'g', BEGINNING, async (batch) => void held.push(...batch));
      await until(() => held.length === 5);
      await held[2]!.ack();
      await consumer.stop();
      const next = reader(topic, 'g');
      await until(() => next.seen.length >= 4);
      await sleep(100);
      expect(texts(next.seen.map((delivery) => delivery.record)).sort()).toEqual(['data 0', 'data 1', 'data 3', 'data 4']);
    });

    test('an ordered group redelivers unsettled records in order after a reopen', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 40) }]);
      const first: Delivery[] = [];
      const consumer = log().consume(topic, 'g', { ...BEGINNING, ordered: true }, async (batch) => void first.push(...batch));
      await until(() => first.length === 40);
      for (const i of [0, 1, 2, 7, 9, 30]) await first[i]!.ack();
      await consumer.stop();
      await make().reopen();
      await log().append([{ topic, records: records(topic, 10, 40) }]);
      const { seen } = reader(topic, 'g', { ordered: true });
      await until(() => texts(seen.map((delivery) => delivery.record)).includes('data 49'));
      const numbers = texts(seen.map((delivery) => delivery.record)).map((text) => Number(text.slice(5)));
      expect(numbers[0]).toBe(3);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      for (let i = 3; i < 50; i++) if (![7, 9, 30].includes(i)) expect(numbers).toContain(i);
      await until(async () => (await log().lag(topic, 'g')).waiting === 0);
    });

    test('hundreds of idle consumers, and each is woken by its own topic', async () => {
      const topics = Array.from({ length: 300 }, () => fresh('replay'));
      const seen = new Map<string, number>();
      const consumers = topics.map((topic) =>
        consume(topic, 'g', { start: new Date() }, async (batch) => {
          seen.set(topic, (seen.get(topic) ?? 0) + batch.length);
          await Promise.all(batch.map((delivery) => delivery.ack()));
        }),
      );
      await Promise.all(consumers.map(({ started }) => started));
      await Promise.all(topics.map((topic) => log().append([{ topic, records: records(topic, 1) }])));
      await until(() => seen.size === topics.length);
      expect([...seen.values()].every((count) => count === 1)).toBe(true);
    });
  });
}
