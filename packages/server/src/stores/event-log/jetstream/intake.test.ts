import { headers } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import type { StoredRecord } from '../port.ts';
import type { CursorState } from './cursor.ts';
import type { Cursor } from './cursor-store.ts';
import { Dispatcher } from './dispatcher.ts';
import { Intake } from './intake.ts';
import { Message } from './message.ts';
import { positionOf } from './position.ts';
import { packBytes } from './record-batch.ts';
import { Settlements } from './settlements.ts';
import type { OwnedGroup } from './takeover.ts';

const turns = async () => {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
};
const message = (seq: number, ...ids: string[]) =>
  new Message({
    seq,
    time: 1_000,
    subject: 'topic',
    headers: headers(),
    data: Buffer.concat(ids.map((id) => packBytes({ id, data: Buffer.of() }))),
  });

interface Given {
  messages: Message[];
  open?: CursorState['open'];
  settledBefore?: string[];
  duplicates?: string[];
  includes?: (record: StoredRecord) => boolean;
  handsOutDuplicates?: boolean;
  again?: (seq: number) => Promise<Message | undefined>;
}
/** `handled`: the ids that were handed out. */
function open({ messages, open: opened = [], settledBefore = [], duplicates = [], again, ...options }: Given) {
  const handled: string[] = [];
  const cursor = { owner: 'me', save: async () => {} } as unknown as Cursor;
  const ticks: (() => void)[] = [];
  const settlements = new Settlements(
    cursor,
    { owner: 'me', high: 1, open: opened },
    { mark: 1, upTo: 0, retriesUpTo: 0, resultsUpTo: 0 },
    {
      persist: (work) => work(),
      append: async () => {},
      journal: async () => 1,
      skipsRepeats: false,
      atNextTick: (run) => void ticks.push(run),
      isStopped: () => false,
      onFenced: () => {},
      onError: () => {},
    },
  );
  const reader = {
    at: 1,
    next: async () => messages.splice(0),
    again: again ?? (async (seq: number) => message(seq, 'x', 'y', 'z')),
    isDuplicate: (one: Message, index: number) => duplicates.includes(one.records[index]?.id ?? ''),
  };
  const retries = { takeDue: async () => [], nextIn: () => undefined };
  const onError = (error: unknown) => {
    throw error;
  };
  const dispatcher = new Dispatcher({
    options: { maxBatch: 100, maxInFlight: 100 },
    handle: async (batch) => void handled.push(...batch.map(({ record, isDuplicate }) => (isDuplicate ? `${record.id} again` : record.id))),
    onRoom: () => {},
    onError,
  });
  const group = { reader, settlements, retries, since: 0, settledBefore: new Set(settledBefore) } as unknown as OwnedGroup;
  const intake = new Intake(group, { dispatcher, settler: { settle: async () => {} }, options, persist: (work) => work(), onError });
  return { intake, settlements, handled, ticks };
}

test('duplicates, records settled before and records of others are settled and not handed out', async () => {
  const { intake, settlements, handled, ticks } = open({
    messages: [message(2, 'a', 'b', 'c', 'd')],
    duplicates: ['a'],
    settledBefore: [positionOf(2, 1)],
    includes: ({ id }) => id !== 'c',
  });
  intake.fill();
  await turns();
  expect(handled).toEqual(['d']);
  expect(settlements.open.records).toBe(1);
  expect(ticks).toHaveLength(1);
  await intake.stop();
});

test('duplicates are handed out to a group that wants them, marked', async () => {
  const { intake, handled } = open({ messages: [message(2, 'a', 'b')], duplicates: ['a'], handsOutDuplicates: true });
  intake.fill();
  await turns();
  expect(handled).toEqual(['a again', 'b']);
  await intake.stop();
});

test('records that the last consumer left open come first', async () => {
  const { intake, settlements, handled } = open({ messages: [message(2, 'a')], open: [[1, 0, 2]] });
  intake.fill();
  await turns();
  expect(handled).toEqual(['x', 'z', 'a']);
  expect(settlements.reopened).toEqual([]);
});

test('a message that is read while the consumer stops stays open', async () => {
  const read = Promise.withResolvers<Message>();
  const { intake, settlements, handled } = open({ messages: [], open: [[1, 2]], again: () => read.promise });
  intake.fill();
  await turns();
  const stopped = intake.stop();
  read.resolve(message(1, 'x', 'y', 'z'));
  await stopped;
  await turns();
  expect(handled).toEqual([]);
  expect(settlements.reopened).toEqual([[1, 2]]);
});
