import { expect, test } from 'vitest';
import type { Append } from '../port.ts';
import { type CursorState, OpenMessage } from './cursor.ts';
import { type Cursor, Fenced } from './cursor-store.ts';
import type { JournalEntry } from './journal.ts';
import { Settlements } from './settlements.ts';

const outcome = (id: string): Append => ({ topic: 'outcomes.1', records: [{ id, data: Buffer.from(id) }] });
/** `steps`: what reached the broker, in order. The tick runs when the test says so. */
function open({ journalWorks = true, fenced = false } = {}) {
  const steps: string[] = [];
  const ticks: (() => void)[] = [];
  const cursor = {
    owner: 'me',
    async save({ high, open: left }: CursorState) {
      if (fenced) throw new Fenced('taken');
      steps.push(`cursor ${high} ${JSON.stringify(left)}`);
    },
  } as Cursor;
  const settlements = new Settlements(
    cursor,
    { owner: 'me', high: 0, open: [] },
    {
      persist: (work) => work(),
      append: async (appends) =>
        void steps.push(`append ${appends.map(({ topic, records }) => `${topic}:${records.map(({ id }) => id)}`)}`),
      journal: async ({ settled }: JournalEntry) => {
        if (journalWorks) steps.push(`journal ${JSON.stringify(settled)}`);
        return journalWorks;
      },
      atNextTick: (run) => void ticks.push(run),
      onFenced: () => void steps.push('fenced'),
      onError: (error) => {
        throw error;
      },
    },
  );
  for (const seq of [1, 2]) settlements.open.add(new OpenMessage(seq, 0, 2));
  const tick = () => {
    for (const run of ticks.splice(0)) run();
  };
  return { settlements, steps, tick };
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

test('a consumer that was replaced stops, and settlements do not wait for ever', async () => {
  const { settlements, steps } = open({ journalWorks: false, fenced: true });
  await settlements.settle([{ seq: 1, index: 0 }]);
  await settlements.settle([{ seq: 1, index: 1 }]);
  expect(steps).toEqual(['fenced']);
});
