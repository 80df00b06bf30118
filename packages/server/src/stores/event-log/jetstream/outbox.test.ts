import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Append } from '../port.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { MOST_BYTES, Outbox } from './outbox.ts';

const anAppend = (id: string, size = 3): Append => ({ topic: 'outcomes.1', records: [{ id, data: Buffer.alloc(size, id) }] });
function open() {
  const [written, empty]: [string[][], number[]] = [[], []];
  const outbox = new Outbox({
    append: async (appends) => void written.push(appends.flatMap(({ records }) => records.map(({ id }) => id))),
    persist: (work) => work(),
    onEmpty: () => void empty.push(written.length),
    onError: (error) => {
      throw error;
    },
  });
  return { outbox, written, empty };
}

test('a cursor carries appends as they are', () => {
  const bytes: Append = { topic: 'outcomes.2', records: [{ id: 'ü', data: Uint8Array.from([0, 255, 10]) }, ...anAppend('b').records] };
  const state = { owner: 'me', high: 4, open: [], outbox: [anAppend('a'), bytes] };
  const read = decodeCursor(encodeCursor(state));
  const plain = (appends: readonly Append[] = []) =>
    appends.map(({ topic, records }) => ({ topic, records: records.map(({ id, data }) => [id, ...data]) }));
  expect(plain(read.outbox)).toEqual(plain(state.outbox));
  expect(decodeCursor(encodeCursor({ owner: 'me', high: 4, open: [] }))).toEqual({ owner: 'me', high: 4, open: [] });
});

test('only what a stored cursor names is appended, many at once and in order', async () => {
  const { outbox, written, empty } = open();
  outbox.add([anAppend('a'), anAppend('b')]);
  outbox.stored(2);
  outbox.add([anAppend('c')]);
  await outbox.flush();
  expect(written).toEqual([['a', 'b']]);
  expect(outbox.appends).toHaveLength(1);
  outbox.stored(1);
  await outbox.flush();
  expect(written).toEqual([['a', 'b'], ['c']]);
  expect([outbox.appends, empty]).toEqual([[], [1, 2]]);
});

test('nothing is appended after another consumer has taken the group over', async () => {
  const { outbox, written } = open();
  outbox.add([anAppend('a')]);
  outbox.close();
  outbox.stored(1);
  await sleep(50);
  expect(written).toEqual([]);
});

test('appends beyond the limit do not fit until others are stored', async () => {
  const { outbox } = open();
  const large = anAppend('a', MOST_BYTES - 200);
  expect(outbox.fits([large])).toBe(true);
  outbox.add([large]);
  expect(outbox.fits([anAppend('b', 200)])).toBe(false);
  outbox.stored(1);
  await outbox.flush();
  expect(outbox.fits([anAppend('b', 200)])).toBe(true);
});
