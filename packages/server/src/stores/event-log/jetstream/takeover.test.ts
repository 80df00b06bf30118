import { headers } from '@nats-io/transport-node';
import { expect, test, vi } from 'vitest';
import type { Append } from '../port.ts';
import type { CursorState } from './cursor.ts';
import type { JournalEntry } from './journal.ts';
import { Message } from './message.ts';
import type { Place } from './names.ts';
import { positionOf } from './position.ts';
import { Takeover, type TakeoverDeps } from './takeover.ts';
import { TopicFeed } from './topic-feed.ts';

const outcome = (id: string): Append => ({ topic: 'outcomes.1', records: [{ id, data: Buffer.from(id) }] });
const state: CursorState = { owner: 'last', high: 10, open: [[9, 1]], journal: { owner: 'last', seq: 50 } };

/** A group whose last consumer has stored `state` and left `entries` in the journal. */
function open(entries: JournalEntry[], { isNew = false, isLeft = false, mark = 60, retried = [] as string[] } = {}) {
  const messages = retried.map((position, i) => {
    const meta = headers();
    meta.set('Fh-Position', position);
    meta.set('Fh-Attempt', '2');
    return new Message({ seq: i + 1, time: 0, subject: 'retry', headers: meta, data: Buffer.alloc(0) });
  });
  const added: JournalEntry[] = [];
  const appended: string[] = [];
  const asked: unknown[] = [];
  let away = false;
  const deps = {
    cursors: { claim: async () => ({ cursor: { owner: 'me' }, state: { ...state, owner: 'me' }, isNew, isLeft }) },
    journal: {
      mark: async () => mark,
      add: async (_topic: string, _group: string, entry: JournalEntry) => added.push(entry),
      since: async (_topic: string, _group: string, from: unknown) => {
        asked.push(from);
        return away ? [] : entries;
      },
    },
    streams: { ensureRetries: async () => {} },
    direct: { batch: async () => ({ messages, pending: 0 }), leaderGet: async () => undefined },
    now: () => 0,
    append: async (appends: Append[]) => void appended.push(...appends.flatMap(({ records }) => records.map(({ id }) => id))),
    refreshIds: async () => void asked.push('ids'),
    onError: () => {},
  } as unknown as TakeoverDeps;
  const options = { start: 'beginning' as const, maxBatch: 1, maxInFlight: 1, ordered: true };
  const hooks = { isStopped: () => false, check: () => {}, onFenced: () => {} };
  const takeover = new Takeover('topic', 'group', options, deps, hooks);
  const feed = new TopicFeed({ topic: 'topic', stream: 'stream', subject: 'topic' } as Place, 1_000, () => {});
  const loseJournal = () => {
    away = true;
  };
  return {
    run: (opening = Promise.resolve(feed)) => takeover.run(feed.place, opening),
    feed,
    appended,
    asked,
    added,
    loseJournal,
    deps,
    options,
    hooks,
  };
}

test('settlements that only the journal knows count, and their appends are stored again', async () => {
  const { run, appended, asked } = open([
    { owner: 'last', settled: [[8, 0]], appends: [outcome('stored')] },
    {
      owner: 'last',
      settled: [
        [9, 1],
        [12, 0, 3],
      ],
      appends: [outcome('missing')],
    },
  ]);
  const { settledBefore } = await run();
  expect(settledBefore).toEqual(new Set([positionOf(9, 1), positionOf(12, 0), positionOf(12, 3)]));
  expect(appended).toEqual(['missing']);
  expect(asked).toEqual(['ids', state.journal]);
});

test('a new group looks for its start when its stream is there (a new installation logged an error)', async () => {
  const { feed, deps, options, hooks } = open([], { isNew: true });
  const { promise: opening, resolve } = Promise.withResolvers<TopicFeed>();
  let isOpen = false;
  const read = vi.fn(async () => {
    if (!isOpen) throw new Error('there is no such stream');
    return { messages: [], pending: 0 };
  });
  const direct = { batch: read, leaderGet: async () => undefined };
  const claim = async (_topic: string, _group: string, start: () => Promise<object>) => ({
    cursor: { owner: 'me' },
    state: { owner: 'me', ...(await start()) },
    isNew: true,
    isLeft: false,
  });
  const fresh = { ...deps, direct, cursors: { claim } } as unknown as TakeoverDeps;
  const running = new Takeover('topic', 'group', { ...options, start: new Date() }, fresh, hooks).run(feed.place, opening);
  setImmediate(() => {
    isOpen = true;
    resolve(feed);
  });
  await running;
  expect(read).toHaveBeenCalledWith('stream', expect.objectContaining({ start_time: expect.any(String) }));
});

test('a journal that was created again is read from its beginning', async () => {
  const { run, asked } = open([], { mark: 1 });
  await run();
  expect(asked).toEqual(['ids', undefined]);
});

test('a takeover that is repeated remembers the journal it has read', async () => {
  const { run, loseJournal } = open([{ owner: 'last', settled: [[12, 0]], appends: [] }]);
  await run();
  loseJournal();
  expect((await run()).settledBefore).toEqual(new Set([positionOf(12, 0)]));
});

test('a new group has no journal', async () => {
  const { run, asked } = open([{ owner: 'last', settled: [[12, 0]], appends: [] }], { isNew: true });
  expect((await run()).settledBefore).toEqual(new Set());
  expect(asked).toEqual([]);
});

test('cursor, ids and journal are read while the feed opens (each exchange with the broker came after the other)', async () => {
  const { run, feed, asked } = open([]);
  const { promise, resolve } = Promise.withResolvers<TopicFeed>();
  const running = run(promise);
  await expect.poll(() => asked).toEqual(['ids', state.journal]);
  resolve(feed);
  expect((await running).reader.at).toBe(state.high);
});

test('results without a settlement are not looked for if the last consumer has left none', async () => {
  const { run, asked } = open([], { isLeft: true });
  await run();
  expect(asked).toEqual([state.journal]);
});

test('a record whose retry was stored is settled at the takeover: after two kills it came again though its retry had been settled', async () => {
  const retried = [positionOf(8, 0), positionOf(9, 1), positionOf(12, 0), positionOf(13, 2)];
  const { run, added } = open([{ owner: 'last', settled: [[12, 0]], appends: [] }], { retried });
  const { settledBefore } = await run();
  expect(added).toEqual([
    {
      owner: 'me',
      settled: [
        [9, 1],
        [13, 2],
      ],
      appends: [],
    },
  ]);
  expect(settledBefore).toEqual(new Set(retried));
});
