import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Append,
  type ConsumeOptions,
  type Consumer,
  type Delivery,
  type EventLog,
  type LogRecord,
  LogUnavailable,
  type StoredRecord,
} from './port.ts';

/** An engine under test. `reopen` closes the log and opens it again on the same data. */
export interface LogUnderTest {
  log(): EventLog;
  reopen(): Promise<void>;
  /** Another log, of its own, that knows ids for so long only: the one under test knows them longer than the tests take. */
  withWindow(ms: number): Promise<EventLog>;
}

let counter = 0;
/** A name no other test has used. */
export function fresh(kind = 'events'): string {
  return `${kind}.t${++counter}-${Date.now().toString(36)}`;
}
export function record(id: string, text = id): LogRecord {
  return { id, data: Buffer.from(text) };
}
export function records(topic: string, count: number, from = 0): LogRecord[] {
  return Array.from({ length: count }, (_, i) => record(`${topic}/${from + i}`, `data ${from + i}`));
}
/** The bound only ends what hangs. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('it did not happen');
    await sleep(10);
  }
}
export async function collect(records: AsyncIterable<StoredRecord>): Promise<StoredRecord[]> {
  const out: StoredRecord[] = [];
  for await (const one of records) out.push(one);
  return out;
}
const texts = (list: { data: Uint8Array }[]) => list.map((one) => Buffer.from(one.data).toString());
const BEGINNING: ConsumeOptions = { start: 'beginning', maxInFlight: 1_000, maxBatch: 100 };

/** What every engine of the log must do. */
export function describeEventLog(name: string, make: () => LogUnderTest): void {
  describe(`${name}: the log`, () => {
    const log = () => make().log();
    /** Consumes until the test ends. */
    function consume(
      topic: string,
      group: string,
      options: Partial<ConsumeOptions>,
      handle: (batch: Delivery[]) => Promise<void>,
    ): Consumer {
      const consumer = log().consume(topic, group, { ...BEGINNING, ...options }, handle);
      onTestFinished(() => consumer.stop());
      return consumer;
    }
    /** A consumer that acknowledges everything and notes it. */
    function reader(topic: string, group: string, options: Partial<ConsumeOptions> = {}): { seen: Delivery[]; consumer: Consumer } {
      const seen: Delivery[] = [];
      const consumer = consume(topic, group, options, async (batch) => {
        seen.push(...batch);
        await Promise.all(batch.map((delivery) => delivery.ack()));
      });
      return { seen, consumer };
    }

    describe('append and read', () => {
      test('what is appended is read back, byte for byte, in order, with rising positions and a time', async () => {
        const topic = fresh();
        const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
        const before = Date.now();
        const [result] = await log().append([
          { topic, records: [{ id: `${topic}/a`, data: bytes }, record(`${topic}/é \n%~`, ''), record(`${topic}/c`)] },
        ]);
        const read = await collect(log().read(topic, { limit: 10 }));
        expect(read.map((one) => one.id)).toEqual([`${topic}/a`, `${topic}/é \n%~`, `${topic}/c`]);
        expect(Buffer.from(read[0]!.data)).toEqual(Buffer.from(bytes));
        expect(read[1]!.data.length).toBe(0);
        expect(result!.positions).toEqual(read.map((one) => one.position));
        expect([...result!.positions].sort()).toEqual(result!.positions);
        for (const one of read) {
          expect(one.time).toBeGreaterThanOrEqual(before - 1_000);
          expect(one.time).toBeLessThanOrEqual(Date.now() + 1_000);
        }
      });

      test('one call stores into several topics', async () => {
        const [a, b, plain] = [fresh(), fresh('replay'), fresh('x').replace('.', '-')];
        await log().append([a, b, plain].map((topic) => ({ topic: topic!, records: records(topic!, 2) })));
        for (const topic of [a, b, plain]) expect((await collect(log().read(topic!, { limit: 10 }))).length).toBe(2);
      });

      test('many appends at once keep their order inside each call and lose nothing', async () => {
        const topic = fresh();
        const calls = Array.from({ length: 100 }, (_, i) => [{ topic, records: records(topic, 5, i * 5) }]);
        const results = await Promise.all(calls.map((call) => log().append(call)));
        for (const [result] of results) expect([...result!.positions].sort()).toEqual(result!.positions);
        const read = await collect(log().read(topic, { limit: 1_000 }));
        expect(new Set(read.map((one) => one.id)).size).toBe(500);
      });

      test('a megabyte in one record', async () => {
        const topic = fresh();
        const data = Buffer.alloc(900_000, 'abc');
        await log().append([{ topic, records: [{ id: `${topic}/1`, data }] }]);
        const [one] = await collect(log().read(topic, { limit: 1 }));
        expect(Buffer.from(one!.data).equals(data)).toBe(true);
      });

      test('a topic nobody wrote to is empty', async () => {
        const topic = fresh();
        expect(await collect(log().read(topic, { limit: 10 }))).toEqual([]);
        expect(await collect(log().read(topic, { limit: 10, reverse: true }))).toEqual([]);
        expect(await log().get(topic, '0000000000000001')).toBeUndefined();
        expect(await log().expire(topic, new Date())).toBe(0);
        expect(await log().lag(topic, 'g')).toEqual({ waiting: 0, oldest: undefined });
        await log().remove(topic, 'g');
        await log().remove(topic);
      });

      test('get finds a record by position, in its own topic only', async () => {
        const [topic, other] = [fresh(), fresh()];
        const [result] = await log().append([{ topic, records: records(topic, 3) }]);
        await log().append([{ topic: other, records: records(other, 1) }]);
        for (const [i, position] of result!.positions.entries()) expect((await log().get(topic, position!))?.id).toBe(`${topic}/${i}`);
        expect(await log().get(topic, '0000000009999999')).toBeUndefined();
        expect(await log().get(topic, 'no position')).toBeUndefined();
      });
    });

    describe('ranges', () => {
      async function three(): Promise<{ topic: string; middle: StoredRecord; positions: string[] }> {
        const topic = fresh();
        const positions: string[] = [];
        for (let i = 0; i < 3; i++) {
          const [result] = await log().append([{ topic, records: records(topic, 2, i * 2) }]);
          positions.push(...(result!.positions as string[]));
          await sleep(30);
        }
        const middle = (await log().get(topic, positions[2]!))!;
        return { topic, middle, positions };
      }
      const numbers = async (read: AsyncIterable<StoredRecord>) => texts(await collect(read)).map((text) => Number(text.slice(5)));

      test('by time, position, limit and direction', async () => {
        const { topic, middle, positions } = await three();
        const from = new Date(middle.time);
        const read = (range: Parameters<EventLog['read']>[1]) => numbers(log().read(topic, range));
        expect(await read({ limit: 10, from })).toEqual([2, 3, 4, 5]);
        expect(await read({ limit: 10, to: from })).toEqual([0, 1]);
        const next = (await log().get(topic, positions[4]!))!;
        expect(await read({ limit: 10, from, to: new Date(next.time) })).toEqual([2, 3]);
        expect(await read({ limit: 10, from: new Date(Date.now() + 60_000) })).toEqual([]);
        expect(await read({ limit: 3 })).toEqual([0, 1, 2]);
        expect(await read({ limit: 10, after: positions[2]! })).toEqual([3, 4, 5]);
        expect(await read({ limit: 10, after: positions[5]! })).toEqual([]);
        expect(await read({ limit: 10, reverse: true })).toEqual([5, 4, 3, 2, 1, 0]);
        expect(await read({ limit: 2, reverse: true })).toEqual([5, 4]);
        expect(await read({ limit: 10, reverse: true, after: positions[3]! })).toEqual([2, 1, 0]);
        expect(await read({ limit: 10, reverse: true, from })).toEqual([5, 4, 3, 2]);
        expect(await read({ limit: 10, reverse: true, to: from })).toEqual([1, 0]);
        expect(await read({ limit: 0 })).toEqual([]);
      });

      test('pages of a long topic meet without a gap, in both directions', async () => {
        const topic = fresh();
        for (let i = 0; i < 10; i++) await log().append([{ topic, records: records(topic, 70, i * 70) }]);
        for (const reverse of [false, true]) {
          const seen: number[] = [];
          let after: string | undefined;
          for (;;) {
            const page = await collect(log().read(topic, { limit: 99, reverse, ...(after === undefined ? {} : { after }) }));
            if (page.length === 0) break;
            seen.push(...texts(page).map((text) => Number(text.slice(5))));
            after = page.at(-1)!.position;
          }
          const all = Array.from({ length: 700 }, (_, i) => i);
          expect(seen).toEqual(reverse ? all.reverse() : all);
        }
      });
    });

    describe('deduplication', () => {
      test('a known id is dropped: in one call, in parallel, across topics of a family, after a reopen', async () => {
        const [a, b] = [fresh(), fresh()];
        const again = [{ topic: a, records: [record(`${a}/s`)] }];
        const first = await log().append([{ topic: a, records: [record(`${a}/s`), record(`${a}/s`), record(`${a}/t`)] }]);
        expect(first[0]!.positions.map((position) => position !== undefined)).toEqual([true, false, true]);
        const parallel = await Promise.all(Array.from({ length: 20 }, () => log().append(again)));
        expect(parallel.every(([result]) => result!.positions[0] === undefined)).toBe(true);
        expect((await log().append([{ topic: b, records: [record(`${a}/s`)] }]))[0]!.positions).toEqual([undefined]);
        await make().reopen();
        expect((await log().append(again))[0]!.positions).toEqual([undefined]);
        expect((await collect(log().read(a, { limit: 10 }))).length).toBe(2);
      });

      test('families do not know of one another', async () => {
        const a = fresh('events');
        const b = fresh('replay');
        await log().append([{ topic: a, records: [record(`${a}/x`)] }]);
        expect((await log().append([{ topic: b, records: [record(`${a}/x`)] }]))[0]!.positions[0]).toBeDefined();
      });

      test('of 20 parallel appends of one new id exactly one stores it', async () => {
        const topic = fresh();
        const results = await Promise.all(Array.from({ length: 20 }, () => log().append([{ topic, records: [record(`${topic}/x`)] }])));
        expect(results.filter(([result]) => result!.positions[0] !== undefined).length).toBe(1);
      });

      test('after the window an id is new again', async () => {
        const topic = fresh();
        const short = await make().withWindow(500);
        await short.append([{ topic, records: [record(`${topic}/x`)] }]);
        await until(async () => (await short.append([{ topic, records: [record(`${topic}/x`)] }]))[0]!.positions[0] !== undefined);
      });
    });

    describe('groups', () => {
      test('each group gets everything once, as it comes', async () => {
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

      test('a group that begins at a time gets only what is newer; begun once, its start is forgotten', async () => {
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

      test('settled out of order, only the rest comes again after a reopen', async () => {
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

      test('what a stopped consumer leaves goes to the next one', async () => {
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

      test('ordered: after a reopen everything unsettled comes in order', async () => {
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
        for (const topic of topics)
          consume(topic, 'g', { start: new Date() }, async (batch) => {
            seen.set(topic, (seen.get(topic) ?? 0) + batch.length);
            await Promise.all(batch.map((delivery) => delivery.ack()));
          });
        await sleep(1_000);
        await Promise.all(topics.map((topic) => log().append([{ topic, records: records(topic, 1) }])));
        await until(() => seen.size === topics.length);
        expect([...seen.values()].every((count) => count === 1)).toBe(true);
      });
    });

    describe('retries', () => {
      test('come again no sooner than due, counted, with their state, and hold up nobody', async () => {
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

      test('come at once when the reader hurries, one that is stored meanwhile too', async () => {
        const topic = fresh();
        await log().append([{ topic, records: records(topic, 3) }]);
        const seen: string[] = [];
        let hurried = false;
        const consumer = consume(topic, 'g', {}, async (batch) => {
          for (const delivery of batch) {
            seen.push(`${texts([delivery.record])[0]} ${delivery.attempt}`);
            if (delivery.attempt === 1 || !hurried) await delivery.retryIn(3_600_000, delivery.record.id);
            else await delivery.ack();
          }
        });
        await until(() => seen.length === 3);
        hurried = true;
        await consumer.hurry();
        await log().append([{ topic, records: records(topic, 1, 3) }]);
        await until(() => seen.length >= 8);
        await until(async () => (await log().lag(topic, 'g')).waiting === 0);
        expect(seen.sort()).toEqual([0, 1, 2, 3].flatMap((n) => [`data ${n} 1`, `data ${n} 2`]));
      });

      test('one in hand at a stop comes again, uncounted', async () => {
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

      test('many acknowledgements: what is stored with them tells its positions, and none of them comes again', async () => {
        const [topic, out, about] = [fresh(), fresh('replay'), fresh('replay')];
        await log().append([{ topic, records: records(topic, 20) }]);
        const held: Delivery[] = [];
        const consumer = consume(topic, 'g', {}, async (batch) => void held.push(...batch));
        await until(() => held.length === 20);
        let meanwhile = 0;
        await log().ackAll(held.slice(0, 15), {
          appends: [{ topic: out, records: records(out, 3) }],
          afterwards: (results) => [{ topic: about, records: [record(`${about}/1`, JSON.stringify(results))] }],
          meanwhile: async () => void meanwhile++,
        });
        expect(meanwhile).toBe(1);
        const stored = await collect(log().read(out, { limit: 10 }));
        expect(texts(stored)).toEqual(['data 0', 'data 1', 'data 2']);
        expect(texts(await collect(log().read(about, { limit: 10 })))).toEqual([
          JSON.stringify([{ positions: stored.map((one) => one.position) }]),
        ]);
        expect((await log().lag(topic, 'g')).waiting).toBe(5);
        await consumer.stop();
        await make().reopen();
        const { seen } = reader(topic, 'g');
        await until(() => seen.length === 5);
        expect(texts(seen.map((one) => one.record)).sort()).toEqual(['data 15', 'data 16', 'data 17', 'data 18', 'data 19']);
      });

      test('many acknowledgements of which one part cannot be stored: none is given, and the call may be made again', async () => {
        const [topic, out] = [fresh(), fresh('replay')];
        await log().append([{ topic, records: records(topic, 3) }]);
        const held: Delivery[] = [];
        consume(topic, 'g', {}, async (batch) => void held.push(...batch));
        await until(() => held.length === 3);
        await expect(log().ackAll(held, { appends: [{ topic: 'x'.repeat(5_000), records: records(out, 1) }] })).rejects.toThrow();
        expect((await log().lag(topic, 'g')).waiting).toBe(3);
        await log().ackAll(held, { appends: [{ topic: out, records: records(out, 1) }] });
        expect((await log().lag(topic, 'g')).waiting).toBe(0);
        expect(await collect(log().read(out, { limit: 10 }))).toHaveLength(1);
      });
    });

    describe('expiry and removal', () => {
      test('expire removes what is old and settled by every group, and nothing else', async () => {
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
        await sleep(1_200);
        expect(await log().expire(topic, all)).toBe(4);
        expect(texts(await collect(log().read(topic, { limit: 10 })))).toEqual(['data 4', 'data 5']);
        await sleep(1_200);
        expect(await log().expire(topic, all, ['slow'])).toBe(2);
        expect(await collect(log().read(topic, { limit: 10 }))).toEqual([]);
        // What was in hand can still be settled, and what comes next is delivered.
        await Promise.all(slow.slice(4).map((delivery) => delivery.ack()));
        await log().append([{ topic, records: records(topic, 1, 6) }]);
        await until(() => slow.length === 7 && quick.seen.length === 7);
      });

      test('a topic emptied by expiry goes on where it was after a reopen', async () => {
        const topic = fresh();
        const [before] = await log().append([{ topic, records: records(topic, 3) }]);
        const first = reader(topic, 'g');
        await until(async () => first.seen.length === 3 && (await log().lag(topic, 'g')).waiting === 0);
        await first.consumer.stop();
        await sleep(1_200);
        expect(await log().expire(topic, new Date(Date.now() + 10_000))).toBe(3);
        await make().reopen();
        const [after] = await log().append([{ topic, records: records(topic, 1, 3) }]);
        expect(after!.positions[0]! > before!.positions[2]!).toBe(true);
        const again = reader(topic, 'g');
        await until(() => again.seen.length >= 1);
        await sleep(100);
        expect(texts(again.seen.map((delivery) => delivery.record))).toEqual(['data 3']);
      });

      test('a waiting retry is delivered although the topic expired what it could', async () => {
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
        await until(() => seen.length === 2);
        await sleep(1_200);
        await log().expire(topic, new Date(Date.now() + 10_000));
        await until(() => seen.length === 3);
        expect(seen[2]).toEqual(['data 0', 2]);
      });

      test('remove a group: it begins anew; remove a topic: nothing of it is left', async () => {
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
      test('lag counts what is not settled and knows the oldest', async () => {
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

      test('lag that is first asked for while a retry is being written comes true', async () => {
        for (let i = 0; i < 40; i++) {
          const topic = fresh();
          let written = false;
          consume(topic, 'g', {}, async ([delivery]) => {
            if (delivery!.attempt > 1) return delivery!.ack();
            const writing = delivery!.retryIn(1, null);
            // At another moment of the write in each round.
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

    test('after close nothing is taken, and after a reopen all is as before', async () => {
      const topic = fresh();
      const before = log();
      await before.append([{ topic, records: records(topic, 1) }]);
      await make().reopen();
      expect(before.available).toBe(false);
      await expect(before.append([{ topic, records: records(topic, 1, 1) }])).rejects.toThrow(LogUnavailable);
      expect(log().available).toBe(true);
      expect((await collect(log().read(topic, { limit: 10 }))).length).toBe(1);
    });
  });
}
