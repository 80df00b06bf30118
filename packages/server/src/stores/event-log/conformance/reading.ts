/** Appended records are stored once, and can be read by position and time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { EventLog, StoredRecord } from '../port.ts';
import { collect, fresh, record, records, type Stand, texts, until } from './kit.ts';

export function describeReading({ log, make }: Stand): void {
  describe('append and read', () => {
    test('records are read back byte for byte, in order, with increasing positions and a time', async () => {
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

    test('a topic without records is empty', async () => {
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

  test('getMany returns the records in the order of the positions, and undefined for what is not there', async () => {
    const [topic, other] = [fresh(), fresh()];
    const positions: string[] = [];
    for (const first of [0, 1, 2, 5]) {
      const [result] = await log().append([{ topic, records: records(topic, first === 2 ? 3 : 1, first) }]);
      positions.push(...(result!.positions as string[]));
    }
    const [elsewhere] = await log().append([{ topic: other, records: records(other, 9) }]);
    const idsOf = async (asked: string[]) => (await log().getMany(topic, asked)).map((one) => one?.id);
    expect(await idsOf([...positions].reverse())).toEqual([5, 4, 3, 2, 1, 0].map((i) => `${topic}/${i}`));
    const asked = [positions[3]!, 'no position', positions[0]!, elsewhere!.positions[8]!, positions[3]!];
    expect(await idsOf(asked)).toEqual([`${topic}/3`, undefined, `${topic}/0`, undefined, `${topic}/3`]);
    expect(await idsOf([])).toEqual([]);
    expect(await log().getMany(fresh(), positions.slice(0, 2))).toEqual([undefined, undefined]);
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

    test('packed: the data of the newest before a time or a position, and the position of the oldest', async () => {
      const { topic, middle, positions } = await three();
      const read = async (range: Parameters<EventLog['readPacked']>[1]) => {
        const found: number[] = [];
        for await (const { bytes, ends, oldest } of log().readPacked(topic, range)) {
          for (const [i, end] of ends.entries())
            found.push(
              Number(
                Buffer.from(bytes.subarray(ends[i - 1] ?? 0, end))
                  .toString('utf8')
                  .slice(5),
              ),
            );
          expect(oldest).toBe(positions[found.at(-1)!]);
        }
        return found;
      };
      expect(await read({ limit: 10 })).toEqual([5, 4, 3, 2, 1, 0]);
      expect(await read({ limit: 3 })).toEqual([5, 4, 3]);
      expect(await read({ limit: 10, to: new Date(middle.time) })).toEqual([1, 0]);
      expect(await read({ limit: 1, to: new Date(middle.time) })).toEqual([1]);
      expect(await read({ limit: 10, to: new Date(0) })).toEqual([]);
      expect(await read({ limit: 3, after: positions[4]! })).toEqual([3, 2, 1]);
      expect(await read({ limit: 10, after: positions[4]!, to: new Date(middle.time) })).toEqual([1, 0]);
      expect(await read({ limit: 10, after: positions[0]! })).toEqual([]);
      await log().erase(topic, [positions[2]!, positions[5]!]);
      expect(await read({ limit: 3 })).toEqual([4, 3, 1]);
      for await (const some of log().readPacked(fresh(), { limit: 1 }))
        expect.unreachable(`an unknown topic has ${some.ends.length} records`);
    });

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

    test('topic families are independent', async () => {
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
}
