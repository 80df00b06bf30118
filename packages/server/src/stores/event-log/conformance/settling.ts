/** Settling a delivered record: acknowledgement, retry, redelivery, and appends stored alongside. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Append, Delivery } from '../port.ts';
import { BEGINNING, collect, fresh, record, records, type Stand, texts, until } from './kit.ts';

export function describeSettling({ consume, log, make, reader }: Stand): void {
  describe('retries', () => {
    test('are redelivered when due, with their attempt count and state, and block no other record', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 3) }]);
      const calls: { text: string; attempt: number; state: unknown; at: number }[] = [];
      consume(topic, 'g', {}, async (batch) => {
        for (const delivery of batch) {
          const text = texts([delivery.record])[0]!;
          calls.push({ text, attempt: delivery.attempt, state: delivery.state, at: performance.now() });
          if (text === 'data 1' && delivery.attempt < 3) await delivery.retryIn(300, { tried: delivery.attempt, note: 'é\n' });
          else await delivery.ack();
        }
      });
      await until(() => calls.length === 5);
      const retried = calls.filter((call) => call.text === 'data 1');
      expect(retried.map((call) => [call.attempt, call.state])).toEqual([
        [1, undefined],
        [2, { tried: 1, note: 'é\n' }],
        [3, { tried: 2, note: 'é\n' }],
      ]);
      expect(retried[1]!.at - retried[0]!.at).toBeGreaterThanOrEqual(295);
      expect(retried[2]!.at - retried[1]!.at).toBeGreaterThanOrEqual(295);
      expect(calls.findIndex((call) => call.text === 'data 2')).toBeLessThan(3);
      await until(async () => (await log().lag(topic, 'g')).waiting === 0);
    });

    test('survive a reopen with attempt, state and wait, and count as waiting', async () => {
      const topic = fresh();
      const began = Date.now();
      await log().append([{ topic, records: records(topic, 2) }]);
      const due = performance.now() + 3_000;
      let settled = 0;
      const consumer = log().consume(topic, 'g', BEGINNING, async (batch) => {
        for (const delivery of batch) await delivery.retryIn(due - performance.now(), { k: texts([delivery.record])[0] });
        settled += batch.length;
      });
      await until(() => settled === 2);
      await consumer.stop();
      const lag = await log().lag(topic, 'g');
      expect(lag.waiting).toBe(2);
      expect(lag.oldest).toBeGreaterThanOrEqual(began);
      expect(lag.oldest).toBeLessThanOrEqual(Date.now());
      await make().reopen();
      const again: { at: number; delivery: Delivery }[] = [];
      consume(topic, 'g', {}, async (batch) => {
        for (const delivery of batch) {
          again.push({ at: performance.now(), delivery });
          await delivery.ack();
        }
      });
      await until(() => again.length === 2);
      for (const { at, delivery } of again) {
        expect(at).toBeGreaterThanOrEqual(due - 20);
        expect(delivery.attempt).toBe(2);
        expect(delivery.state).toEqual({ k: texts([delivery.record])[0] });
        expect(delivery.record.id.startsWith(topic)).toBe(true);
      }
      await sleep(200);
      expect(again.length).toBe(2);
    });

    // NATS refuses a message whose headers are longer than 64 KB. Its consumer repeated the retry for ever, and the next records waited.
    test.each([
      ['', 'x', 4],
      [' of characters that no header has', 'ü"', 4],
      [' of a record of 1 MB', 'ü"', 1_000_000],
    ])('a retry keeps a state of 200,000 characters%s', async (_name, unit, bytes) => {
      const topic = fresh();
      await log().append([{ topic, records: [record(`${topic}/0`, 'd'.repeat(bytes)), record(`${topic}/1`)] }]);
      const state = { ids: Array.from({ length: 2_000 }, (_, n) => `${n}${unit.repeat(100 / unit.length)}`) };
      const seen: Delivery[] = [];
      const handle = async (batch: Delivery[]) => {
        for (const delivery of batch) {
          if (delivery.record.id.endsWith('/0') && delivery.attempt < 3) await delivery.retryIn(0, state);
          else await delivery.ack();
          seen.push(delivery);
        }
      };
      const consumer = consume(topic, 'g', {}, handle);
      await until(() => seen.length >= 4);
      await consumer.stop();
      const retried = seen.filter(({ record: { id } }) => id.endsWith('/0'));
      expect(retried.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      for (const again of retried.slice(1)) {
        expect(again.state).toEqual(state);
        expect(again.record.data.length).toBe(bytes);
      }
      await until(async () => (await log().lag(topic, 'g')).waiting === 0);
    });

    test('with skipRetryDelays retries are delivered immediately, including one stored later', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 3) }]);
      const seen: string[] = [];
      const handle = (skipping: boolean) => async (batch: Delivery[]) => {
        for (const delivery of batch) {
          seen.push(`${texts([delivery.record])[0]} ${delivery.attempt}`);
          if (delivery.attempt === 1 || !skipping) await delivery.retryIn(3_600_000, delivery.record.id);
          else await delivery.ack();
        }
      };
      const waiting = consume(topic, 'g', {}, handle(false));
      await until(() => seen.length === 3);
      await waiting.stop();
      consume(topic, 'g', { skipRetryDelays: true }, handle(true));
      await log().append([{ topic, records: records(topic, 1, 3) }]);
      await until(() => seen.length >= 8);
      await until(async () => (await log().lag(topic, 'g')).waiting === 0);
      expect(seen.sort()).toEqual([0, 1, 2, 3].flatMap((n) => [`data ${n} 1`, `data ${n} 2`]));
    });

    test('a record in flight at a stop is redelivered without counting an attempt', async () => {
      const topic = fresh();
      await log().append([{ topic, records: records(topic, 1) }]);
      let held: Delivery | undefined;
      const consumer = log().consume(topic, 'g', BEGINNING, async ([delivery]) => {
        if (delivery!.attempt === 1) await delivery!.retryIn(0, 's');
        else held = delivery;
      });
      await until(() => held !== undefined);
      await consumer.stop();
      await make().reopen();
      const { seen } = reader(topic, 'g');
      await until(() => seen.length >= 1);
      expect([seen[0]!.attempt, seen[0]!.state]).toEqual([2, 's']);
      await until(async () => (await log().lag(topic, 'g')).waiting === 0);
    });
  });

  describe('alongside', () => {
    test('is stored with an acknowledgement and with a retry', async () => {
      const [topic, out] = [fresh(), fresh('replay')];
      await log().append([{ topic, records: records(topic, 2) }]);
      const also = (delivery: Delivery): Append[] => [
        { topic: out, records: [record(`${delivery.record.id}/out ${delivery.attempt}`, `out ${delivery.attempt}`)] },
      ];
      let done = 0;
      consume(topic, 'g', {}, async (batch) => {
        for (const delivery of batch) {
          if (delivery.record.id.endsWith('/0') && delivery.attempt === 1) await delivery.retryIn(10, undefined, also(delivery));
          else {
            await delivery.ack(also(delivery));
            done++;
          }
        }
      });
      await until(() => done === 2);
      const read = await collect(log().read(out, { limit: 10 }));
      expect(read.map((one) => one.id).sort()).toEqual([`${topic}/0/out 1`, `${topic}/0/out 2`, `${topic}/1/out 1`]);
    });

    test('many acknowledgements with appends return the positions, and no record is redelivered', async () => {
      const [topic, out, about] = [fresh(), fresh('replay'), fresh('replay')];
      await log().append([{ topic, records: records(topic, 20) }]);
      const held: Delivery[] = [];
      const consumer = consume(topic, 'g', {}, async (batch) => void held.push(...batch));
      await until(() => held.length === 20);
      let saved = 0;
      await log().ackAll(held.slice(0, 15), {
        appends: [{ topic: out, records: records(out, 3) }],
        derive: (results) => [{ topic: about, records: [record(`${about}/1`, JSON.stringify(results))] }],
        save: async () => void saved++,
      });
      expect(saved).toBe(1);
      const stored = await collect(log().read(out, { limit: 10 }));
      expect(texts(stored)).toEqual(['data 0', 'data 1', 'data 2']);
      await until(async () => (await collect(log().read(about, { limit: 10 }))).length > 0);
      expect(texts(await collect(log().read(about, { limit: 10 })))).toEqual([
        JSON.stringify([{ positions: stored.map((one) => one.position) }]),
      ]);
      await until(async () => (await log().lag(topic, 'g')).waiting === 5);
      await consumer.stop();
      await make().reopen();
      const { seen } = reader(topic, 'g');
      await until(() => seen.length === 5);
      expect(texts(seen.map((one) => one.record)).sort()).toEqual(['data 15', 'data 16', 'data 17', 'data 18', 'data 19']);
    });

    test('many small acknowledgement groups are each stored once with their appends, and no record is redelivered', async () => {
      const [topic, out] = [fresh(), fresh('replay')];
      await log().append([{ topic, records: records(topic, 20) }]);
      const held: Delivery[] = [];
      const consumer = consume(topic, 'g', { maxInFlight: 20 }, async (batch) => void held.push(...batch));
      await until(() => held.length === 20);
      for (let i = 0; i < 15; i += 3) {
        const appends = [{ topic: out, records: [record(`${out}/${i}`, `out ${i}`)] }];
        await log().ackAll(held.slice(i, i + 3), { appends });
      }
      await until(async () => (await log().lag(topic, 'g')).waiting === 5);
      await consumer.stop();
      await make().reopen();
      const { seen } = reader(topic, 'g');
      await until(() => seen.length === 5);
      expect(texts(seen.map((one) => one.record)).sort()).toEqual(['data 15', 'data 16', 'data 17', 'data 18', 'data 19']);
      expect(texts(await collect(log().read(out, { limit: 10 })))).toEqual(['out 0', 'out 3', 'out 6', 'out 9', 'out 12']);
    });

    test('if an append of many acknowledgements cannot be stored, none is acknowledged, and the call can be repeated', async () => {
      const [topic, out] = [fresh(), fresh('replay')];
      await log().append([{ topic, records: records(topic, 3) }]);
      const held: Delivery[] = [];
      consume(topic, 'g', {}, async (batch) => void held.push(...batch));
      await until(() => held.length === 3);
      await expect(log().ackAll(held, { appends: [{ topic: 'x'.repeat(5_000), records: records(out, 1) }] })).rejects.toThrow();
      expect((await log().lag(topic, 'g')).waiting).toBe(3);
      await log().ackAll(held, { appends: [{ topic: out, records: records(out, 1) }] });
      await until(async () => (await log().lag(topic, 'g')).waiting === 0);
      // LMDB counts a settlement when its commit begins, and the appends can be read when the commit ends.
      await until(async () => (await collect(log().read(out, { limit: 10 }))).length === 1);
    });
  });
}
