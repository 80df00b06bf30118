import { expect, test } from 'vitest';
import type { Append } from '../port.ts';
import { type CursorState, OpenMessage } from './cursor.ts';
import { type Cursor, Fenced } from './cursor-store.ts';
import type { JournalEntry } from './journal.ts';
import { Settlements } from './settlements.ts';

const outcome = (id: string): Append => ({ topic: 'outcomes.1', records: [{ id, data: Buffer.from(id) }] });
const turn = () => new Promise((resolve) => setImmediate(resolve));
/** `steps`: what reached the broker, in order; `saved`: the cursors. The tick runs when the test says so. */
function open({ journalWorks = true, fenced = false, upTo = 0, resultsUpTo = 0, journalTurns = 0, skipsRepeats = false } = {}) {
  const steps: string[] = [];
  const saved: CursorState[] = [];
  const ticks: (() => number)[] = [];
  let entries = 100;
  let failure: Error | undefined;
  const cursor = {
    owner: 'me',
    async save(state: CursorState) {
      if (fenced) throw new Fenced('taken');
      if (failure) throw failure;
      saved.push(state);
      steps.push(`cursor ${state.high} ${JSON.stringify(state.open)}`);
    },
  } as Cursor;
  const settlements = new Settlements(
    cursor,
    { owner: 'me', high: 0, open: [], journal: { owner: 'last', seq: 50 } },
    { mark: entries, upTo, retriesUpTo: 7, resultsUpTo },
    {
      persist: (work) => work(),
      append: async (appends) =>
        void steps.push(`append ${appends.map(({ topic, records }) => `${topic}:${records.map(({ id }) => id)}`)}`),
      journal: async ({ settled }: JournalEntry) => {
        for (let i = 0; i < journalTurns; i++) await turn();
        if (!journalWorks) return undefined;
        steps.push(`journal ${JSON.stringify(settled)}`);
        return ++entries;
      },
      atNextTick: (run) => void ticks.push(run),
      skipsRepeats,
      isStopped: () => false,
      onFenced: () => void steps.push('fenced'),
      onError: (error) => {
        throw error;
      },
    },
  );
  for (const seq of [1, 2]) settlements.open.add(new OpenMessage(seq, 0, 2));
  const tick = () => ticks.splice(0).map((run) => run());
  const fail = (error: Error | undefined) => void (failure = error);
  return { settlements, steps, saved, tick, fail };
}

test('a settlement is in the journal at once, its appends and the cursor follow in this order', async () => {
  const { settlements, steps, tick } = open();
  await settlements.settle([{ seq: 1, index: 0 }], [outcome('a')]);
  await settlements.settle(
    [
      { seq: 1, index: 1 },
      { seq: 2, index: 0 },
    ],
    [outcome('b')],
  );
  expect(steps).toEqual(['journal [[1,0]]', 'journal [[1,1],[2,0]]']);
  tick();
  await settlements.flush();
  expect(steps.slice(2)).toEqual(['append outcomes.1:a,b', 'cursor 2 [[2,1]]']);
});

test('settlements of one turn share a journal entry', async () => {
  const { settlements, steps } = open();
  await Promise.all([settlements.settle([{ seq: 1, index: 0 }]), settlements.settle([{ seq: 1, index: 1 }])]);
  expect(steps).toEqual(['journal [[1,0,1]]']);
});

test('without the journal a settlement resolves when appends and cursor are stored', async () => {
  const { settlements, steps } = open({ journalWorks: false });
  await settlements.settle([{ seq: 1, index: 0 }], [outcome('a')]);
  expect(steps).toEqual(['append outcomes.1:a', 'cursor 1 [[1,1]]']);
});

test('where repeats are skipped, a settlement waits for nothing, and the next tick stores the cursor', async () => {
  const { settlements, steps, tick } = open({ skipsRepeats: true });
  await settlements.settle([{ seq: 1, index: 0 }]);
  await settlements.settle([{ seq: 1, index: 1 }]);
  expect(steps).toEqual([]);
  expect(tick()).toEqual([2]);
  await settlements.flush();
  expect(steps).toEqual(['cursor 1 []']);
  expect(tick()).toEqual([]);
});

test('where repeats are skipped, appends are still in the journal first', async () => {
  const { settlements, steps } = open({ skipsRepeats: true });
  await settlements.settle([{ seq: 1, index: 0 }], [outcome('a')]);
  expect(steps).toEqual(['journal [[1,0]]']);
});

test('a consumer that was replaced stops, and settlements do not wait for ever', async () => {
  const { settlements, steps } = open({ journalWorks: false, fenced: true });
  await settlements.settle([{ seq: 1, index: 0 }]);
  await settlements.settle([{ seq: 1, index: 1 }]);
  expect(steps).toEqual(['fenced']);
});

test('a flush waits for what was settled before it, and not for all that is settled meanwhile', async () => {
  const { settlements } = open({ journalTurns: 3 });
  let flushed = false;
  const flushing = settlements
    .settle([{ seq: 1, index: 0 }])
    .then(() => settlements.flush())
    .then(() => void (flushed = true));
  let turns = 0;
  for (; turns < 1_000 && !flushed; turns++) {
    void settlements.settle([{ seq: 2, index: 0 }]);
    await turn();
  }
  await flushing;
  expect(turns).toBeLessThan(1_000);
});

test('a cursor that could not be stored is stored at the next tick, with the appends before it', async () => {
  const { settlements, steps, tick, fail } = open();
  await settlements.settle([{ seq: 1, index: 0 }], [outcome('a')]);
  fail(new Error('bad request'));
  await expect(settlements.flush()).rejects.toThrow('bad request');
  expect(settlements.unstored).toEqual({ records: 1, oldest: 0 });
  fail(undefined);
  tick();
  await settlements.flush();
  expect(steps.slice(1)).toEqual(['append outcomes.1:a', 'append outcomes.1:a', 'cursor 1 [[1,1]]']);
  expect(settlements.unstored).toEqual({ records: 0, oldest: undefined });
});

test('the cursor says from where to read the journal: behind the last own entry', async () => {
  const { settlements, saved } = open();
  await settlements.settle([{ seq: 1, index: 0 }]);
  await settlements.flush();
  expect(saved.at(-1)?.journal).toEqual({ owner: 'me', seq: 101 });
});

test('until the messages are read that the last consumer settled, the next one reads the journal from where that did', async () => {
  const { settlements, saved } = open({ upTo: 3 });
  await settlements.settle([{ seq: 1, index: 0 }]);
  await settlements.flush();
  expect(saved.at(-1)?.journal).toEqual({ owner: 'last', seq: 50 });
  settlements.open.add(new OpenMessage(3, 0, 1));
  await settlements.settle([{ seq: 1, index: 1 }]);
  await settlements.flush();
  expect(saved.at(-1)?.journal).toEqual({ owner: 'me', seq: 102 });
});

test('a consumer that leaves says so in the cursor, also if it has settled nothing since it stored the last one', async () => {
  const { settlements, saved } = open();
  await settlements.settle([{ seq: 1, index: 0 }]);
  await settlements.flush();
  expect(saved.at(-1)?.left).toBeUndefined();
  await settlements.leave();
  expect(saved.map(({ left }) => left)).toEqual([undefined, 'me']);
});

test('a consumer leaves without a word while records are open of which an earlier one may have stored results', async () => {
  const { settlements, saved } = open({ resultsUpTo: 2 });
  await settlements.settle([0, 1].map((index) => ({ seq: 1, index })));
  await settlements.leave();
  expect(saved.at(-1)?.left).toBeUndefined();
  await settlements.settle([0, 1].map((index) => ({ seq: 2, index })));
  await settlements.leave();
  expect(saved.at(-1)?.left).toBe('me');
});
