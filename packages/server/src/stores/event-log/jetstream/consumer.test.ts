import { expect, test } from 'vitest';
import { type ConsumerDeps, GroupConsumer } from './consumer.ts';
import type { Place } from './names.ts';
import { TopicFeed } from './topic-feed.ts';

const turns = async () => {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
};

/** A consumer of an empty topic. `onTakenOver` is called when it owns its group, and before it reads. */
function open(onTakenOver: (consumer: GroupConsumer) => void) {
  const place = { topic: 'topic', stream: 'stream', subject: 'topic' } as Place;
  const feed = new TopicFeed(place, 1_000, () => {});
  feed.cover(2, 0);
  const errors: unknown[] = [];
  const deps = {
    feeds: { open: async () => feed, release: () => {} },
    cursors: { claim: async () => ({ cursor: { owner: 'me' }, state: { owner: 'me', high: 1, open: [] }, isNew: true }) },
    streams: { ensureRetries: async () => {} },
    direct: { batch: async () => ({ messages: [], pending: 0 }), leaderGet: async () => undefined },
    startInTurn: async <T>(start: () => Promise<T>) => {
      const owned = await start();
      onTakenOver(consumer);
      return owned;
    },
    persist: <T>(work: () => Promise<T>) => work(),
    isClosed: () => false,
    now: () => 1_000,
    onStopped: () => {},
    onError: (error: unknown) => errors.push(error),
  } as unknown as ConsumerDeps;
  const consumer = new GroupConsumer(place, 'group', { start: 'beginning', maxBatch: 1, maxInFlight: 1 }, async () => {}, deps);
  return { consumer, errors };
}

test('a consumer that is stopped in the moment of its takeover reads nothing (it failed four times a second, for ever)', async () => {
  let stopped: Promise<void> | undefined;
  const { consumer, errors } = open((taken) => {
    stopped = taken.stop();
  });
  await consumer.started;
  await stopped;
  await turns();
  expect(errors).toEqual([]);
});

test('a consumer that is not stopped knows the end of its topic', async () => {
  const { consumer, errors } = open(() => {});
  await consumer.started;
  await turns();
  expect([consumer.waiting, errors]).toEqual([{ waiting: 0, oldest: undefined, at: 1 }, []]);
  await consumer.stop();
});
