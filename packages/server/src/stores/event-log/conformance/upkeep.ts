/** Expiry, removal and lag. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Delivery, LogUnavailable } from '../port.ts';
import { collect, fresh, records, type Stand, texts, until } from './kit.ts';

export function describeUpkeep({ consume, log, make, reader }: Stand): void {
  describe('expiry and removal', () => {
    test('expire removes only old records that every group has settled', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 6) }]);
      const quick = reader(topic, 'quick');
      const slow: Delivery[] = [];
      consume(topic, 'slow', {}, async (batch) => void slow.push(...batch));
      await until(() => quick.seen.length === 6 && slow.length === 6);
      const all = new Date(Date.now() + 10_000);
      expect(await log().expire(topic, new Date(Date.now() - 60_000))).toBe(0);
      expect(await log().expire(topic, all)).toBe(0);
      await Promise.all(slow.slice(0, 4).map((delivery) => delivery.ack()));
      await until(async () => (await log().lag(topic, 'quick')).waiting === 0 && (await log().lag(topic, 'slow')).waiting === 2);
      let removed = 0;
      await expect.poll(async () => (removed += await log().expire(topic, all))).toBe(4);
      expect(texts(await collect(log().read(topic, { limit: 10 })))).toEqual(['data 4', 'data 5']);
      await expect.poll(async () => (removed += await log().expire(topic, all, ['slow']))).toBe(6);
      expect(await collect(log().read(topic, { limit: 10 }))).toEqual([]);
      // In-flight records can still be settled, and later records are delivered.
      await Promise.all(slow.slice(4).map((delivery) => delivery.ack()));
      await log().append([{ topic, records: records(topic, 1, 6) }]);
      await until(() => slow.length === 7 && quick.seen.length === 7);
    });

    test('erase removes single records that every group has settled, and names the others', async () => {
      const topic = fresh();
      const [appended] = await log().append([{ topic, records: records(topic, 6) }]);
      const at = (n: number) => appended!.positions[n]!;
      const quick = reader(topic, 'quick');
      const slow: Delivery[] = [];
      consume(topic, 'slow', {}, async (batch) => void slow.push(...batch));
      await until(() => quick.seen.length === 6 && slow.length === 6);
      await Promise.all(slow.slice(0, 4).map((delivery) => delivery.ack()));
      await until(async () => (await log().lag(topic, 'quick')).waiting === 0 && (await log().lag(topic, 'slow')).waiting === 2);
      await expect.poll(() => log().erase(topic, [at(1), at(2), at(5)])).toEqual([at(5)]);
      expect(texts(await collect(log().read(topic, { limit: 10 })))).toEqual(['data 0', 'data 3', 'data 4', 'data 5']);
      expect(await log().get(topic, at(1))).toBeUndefined();
      expect(await log().erase(topic, [at(1)]), 'one that is gone').toEqual([]);
      await Promise.all(slow.slice(4).map((delivery) => delivery.ack()));
      await until(async () => (await log().lag(topic, 'slow')).waiting === 0);
      await expect.poll(() => log().erase(topic, [at(0), at(5)])).toEqual([]);
      await make().reopen();
      expect(texts(await collect(log().read(topic, { limit: 10 })))).toEqual(['data 3', 'data 4']);
      expect(await log().erase(fresh(), ['0000000000000001'])).toEqual([]);
    });

    test('erase leaves a record that waits for a retry, and names it', async () => {
      const topic = fresh();
      const [appended] = await log().append([{ topic, records: records(topic, 3) }]);
      const at = (n: number) => appended!.positions[n]!;
      let retried = 0;
      const waiting = consume(topic, 'g', {}, async (batch) => {
        for (const delivery of batch)
          if (delivery.record.position === at(1)) await delivery.retryIn(3_600_000, undefined).then(() => retried++);
          else await delivery.ack();
      });
      reader(topic, 'other');
      await until(async () => retried === 1 && (await log().lag(topic, 'g')).waiting === 1);
      await until(async () => (await log().lag(topic, 'other')).waiting === 0);
      expect(await log().erase(topic, [at(0), at(1)])).toEqual([at(1)]);
      expect(texts(await collect(log().read(topic, { limit: 10 })))).toEqual(['data 1', 'data 2']);
      await waiting.stop();
      const again = reader(topic, 'g', { skipRetryDelays: true });
      await until(async () => again.seen.length === 1 && (await log().lag(topic, 'g')).waiting === 0);
      expect(await log().erase(topic, [at(1)])).toEqual([]);
      expect(texts(await collect(log().read(topic, { limit: 10 })))).toEqual(['data 2']);
    });

    test('expire leaves what is left of a batch after an erasure until that is old itself', async () => {
      const topic = fresh();
      const [appended] = await log().append([{ topic, records: records(topic, 4) }]);
      const settled = reader(topic, 'g');
      await until(async () => settled.seen.length === 4 && (await log().lag(topic, 'g')).waiting === 0);
      expect(await log().erase(topic, [appended!.positions[1]!])).toEqual([]);
      const young = new Date(Date.now() - 60_000);
      expect(await log().expire(topic, young), 'no batch but the erased one').toBe(0);
      await log().append([{ topic, records: records(topic, 1, 4) }]);
      await until(async () => settled.seen.length === 5 && (await log().lag(topic, 'g')).waiting === 0);
      expect(await log().expire(topic, young), 'a batch behind it').toBe(0);
      expect(texts(await collect(log().read(topic, { limit: 10 })))).toEqual(['data 0', 'data 2', 'data 3', 'data 4']);
      expect(await log().expire(topic, new Date(Date.now() + 10_000))).toBe(4);
    });

    test('expire leaves the settled part of a batch that is not old', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 2) }]);
      await sleep(100);
      await log().append([{ topic, records: records(topic, 4, 2) }]);
      const held: Delivery[] = [];
      consume(topic, 'g', {}, async (batch) => void held.push(...batch));
      await until(() => held.length === 6);
      await Promise.all(held.slice(0, 4).map((delivery) => delivery.ack()));
      await until(async () => (await log().lag(topic, 'g')).waiting === 2);
      expect(await log().expire(topic, new Date(held[2]!.record.time))).toBe(2);
      expect(texts(await collect(log().read(topic, { limit: 10 })))).toEqual(['data 2', 'data 3', 'data 4', 'data 5']);
    });

    test('an expired, empty topic continues its sequence after a reopen', async () => {
      const topic = fresh();
      const [before] = await log().append([{ topic, records: records(topic, 3) }]);
      const first = reader(topic, 'g');
      await until(async () => first.seen.length === 3 && (await log().lag(topic, 'g')).waiting === 0);
      await first.consumer.stop();
      let removed = 0;
      await expect.poll(async () => (removed += await log().expire(topic, new Date(Date.now() + 10_000)))).toBe(3);
      await make().reopen();
      const [after] = await log().append([{ topic, records: records(topic, 1, 3) }]);
      expect(after!.positions[0]! > before!.positions[2]!).toBe(true);
      const again = reader(topic, 'g');
      await until(() => again.seen.length >= 1);
      await sleep(100);
      expect(texts(again.seen.map((delivery) => delivery.record))).toEqual(['data 3']);
    });

    test('a pending retry survives expiry and is delivered', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 2) }]);
      const seen: [string, number][] = [];
      consume(topic, 'g', {}, async (batch) => {
        for (const delivery of batch) {
          seen.push([texts([delivery.record])[0]!, delivery.attempt]);
          if (delivery.record.id.endsWith('/0') && delivery.attempt === 1) await delivery.retryIn(2_000, undefined);
          else await delivery.ack();
        }
      });
      await until(async () => seen.length === 2 && (await log().lag(topic, 'g')).waiting === 1);
      await log().expire(topic, new Date(Date.now() + 10_000));
      await until(() => seen.length === 3);
      expect(seen[2]).toEqual(['data 0', 2]);
    });

    test('a removed group starts over, and a removed topic leaves nothing', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 3) }]);
      const first = reader(topic, 'g');
      await until(() => first.seen.length === 3);
      await first.consumer.stop();
      await log().remove(topic, 'g');
      const second = reader(topic, 'g');
      await until(() => second.seen.length === 3);
      await second.consumer.stop();
      await log().remove(topic);
      expect(await collect(log().read(topic, { limit: 10 }))).toEqual([]);
      expect(await log().topics(topic)).toEqual([]);
      expect(await log().lag(topic, 'g')).toEqual({ waiting: 0, oldest: undefined });
      await log().append([{ topic, records: records(topic, 1, 10) }]);
      const third = reader(topic, 'g');
      await until(() => third.seen.length >= 1);
      expect(texts(third.seen.map((delivery) => delivery.record))).toEqual(['data 10']);
    });
  });

  describe('figures', () => {
    test('lag counts unsettled records and the age of the oldest', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 1) }]);
      await sleep(50);
      await log().append([{ topic, records: records(topic, 4, 1) }]);
      const stored = await collect(log().read(topic, { limit: 10 }));
      const held: Delivery[] = [];
      consume(topic, 'g', {}, async (batch) => void held.push(...batch));
      await until(() => held.length === 5);
      expect(await log().lag(topic, 'g')).toEqual({ waiting: 5, oldest: stored[0]!.time });
      await held[0]!.ack();
      await until(async () => (await log().lag(topic, 'g')).waiting === 4);
      expect((await log().lag(topic, 'g')).oldest).toBe(stored[1]!.time);
      await Promise.all(held.map((delivery) => delivery.ack()));
      await until(async () => (await log().lag(topic, 'g')).waiting === 0);
      expect((await log().lag(topic, 'g')).oldest).toBeUndefined();
    });

    test('lag is right if first requested while a retry is being written', async () => {
      for (let i = 0; i < 40; i++) {
        const topic = fresh();
        let written = false;
        consume(topic, 'g', {}, async ([delivery]) => {
          if (delivery!.attempt > 1) return delivery!.ack();
          const writing = delivery!.retryIn(1, null);
          // Hit a different moment of the write in each round.
          for (let turn = 0; turn < 1 + i; turn++) await new Promise((resolve) => setImmediate(resolve));
          await log().lag(topic, 'g');
          await writing;
          written = true;
        });
        await log().append([{ topic, records: records(topic, 1) }]);
        await until(async () => written && (await log().lag(topic, 'g')).waiting === 0);
      }
    });

    test('thousands of topics, listed by prefix', async () => {
      const mark = fresh('replay');
      const names = Array.from({ length: 3_000 }, (_, i) => `${mark}-${String(i).padStart(4, '0')}`);
      for (let i = 0; i < names.length; i += 250)
        await log().append(names.slice(i, i + 250).map((topic) => ({ topic, records: records(topic, 1) })));
      expect(await log().topics(mark)).toEqual(names);
      expect(texts(await collect(log().read(names[1_234]!, { limit: 10 })))).toEqual(['data 0']);
    });
  });

  test('a closed log rejects appends, and a reopen restores everything', async () => {
    const topic = fresh();
    const before = log();
    await before.append([{ topic, records: records(topic, 1) }]);
    await make().reopen();
    expect(before.available).toBe(false);
    await expect(before.append([{ topic, records: records(topic, 1, 1) }])).rejects.toThrow(LogUnavailable);
    expect(log().available).toBe(true);
    expect((await collect(log().read(topic, { limit: 10 }))).length).toBe(1);
  });
}
