import { expect, test, vi } from 'vitest';
import type { Delivery } from '../port.ts';
import { JetStreamDelivery } from './delivery.ts';
import { Dispatcher } from './dispatcher.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const delivery = (n: number) =>
  new JetStreamDelivery(
    { settle: async () => {} },
    { kind: 'topic', seq: n, index: 0 },
    { id: String(n), data: Buffer.of(), position: String(n), time: 0 },
    1,
    undefined,
  );
const numbers = (batch: readonly Delivery[]) => batch.map(({ record }) => Number(record.id));

test('a batch has at most `maxBatch` deliveries, and at most `maxInFlight` are unsettled', async () => {
  const handled: number[][] = [];
  const dispatcher = new Dispatcher({
    options: { maxBatch: 2, maxInFlight: 3 },
    handle: async (batch) => void handled.push(numbers(batch)),
    onRoom: () => {},
    onError: (error) => {
      throw error;
    },
  });
  const all = [1, 2, 3, 4, 5].map(delivery);
  dispatcher.add(all);
  for (let i = 0; i < 5; i++) await turn();
  expect(handled).toEqual([[1, 2], [3]]);
  expect(dispatcher.hasRoom).toBe(false);

  dispatcher.settled(all.slice(0, 2));
  for (let i = 0; i < 5; i++) await turn();
  expect(handled).toEqual([[1, 2], [3], [4, 5]]);
});

test('deliveries that a failed handler did not settle come again first, after a pause', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const handled: number[][] = [];
    const errors: unknown[] = [];
    const failure = new Error('failed');
    const dispatcher: Dispatcher = new Dispatcher({
      options: { maxBatch: 2, maxInFlight: 10 },
      handle: async (batch) => {
        handled.push(numbers(batch));
        if (handled.length > 1) return;
        dispatcher.settled(batch.slice(0, 1) as JetStreamDelivery[]);
        throw failure;
      },
      onRoom: () => {},
      onError: (error) => void errors.push(error),
    });
    dispatcher.add([1, 2, 3].map(delivery));
    for (let i = 0; i < 5; i++) await turn();
    expect(handled).toEqual([[1, 2]]);
    expect(errors).toEqual([failure]);

    vi.runOnlyPendingTimers();
    for (let i = 0; i < 5; i++) await turn();
    expect(handled).toEqual([
      [1, 2],
      [2, 3],
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test('a stopped dispatcher hands out nothing more', async () => {
  const handled: number[][] = [];
  const dispatcher = new Dispatcher({
    options: { maxBatch: 1, maxInFlight: 1 },
    handle: async (batch) => void handled.push(numbers(batch)),
    onRoom: () => {},
    onError: () => {},
  });
  dispatcher.add([delivery(1)]);
  dispatcher.stop();
  await dispatcher.running;
  expect(handled).toEqual([]);
});

test('an unsettled delivery may have results once its settlement was begun', async () => {
  const options = { maxBatch: 1, maxInFlight: 2 };
  const dispatcher = new Dispatcher({ options, handle: async () => {}, onRoom: () => {}, onError: () => {} });
  const all = [1, 2, 3].map(delivery);
  dispatcher.add(all);
  for (let i = 0; i < 5; i++) await turn();
  expect(dispatcher.mayHaveResults).toBe(false);
  await all[0]?.ack();
  expect(dispatcher.mayHaveResults).toBe(true);
  dispatcher.settled(all.slice(0, 1));
  expect(dispatcher.mayHaveResults).toBe(false);
});
