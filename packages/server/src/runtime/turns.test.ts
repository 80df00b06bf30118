import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

/** A clock that advances only where the test says so: one unit of work is 2 ms. */
function kit() {
  let time = 0;
  const turns = createTurns(() => time);
  const log: string[] = [];
  async function work(name: string, units: number, kind: 'next' | 'bulk' = 'next', orgId?: string): Promise<void> {
    for (let i = 0; i < units; i++) {
      const wait = kind === 'next' ? turns.next(orgId) : turns.bulk();
      if (wait !== undefined) await wait;
      log.push(name);
      time += 2;
    }
  }
  return { work, log, turns };
}

test('work within one slice does not wait', () => {
  const { work, log } = kit();
  void work('a', 3);
  expect(log).toEqual(['a', 'a', 'a']);
});

test('the loop turns between slices', async () => {
  const { work, log } = kit();
  const done = work('a', 7);
  const socket = new Promise<void>((resolve) =>
    setImmediate(() => {
      log.push('socket');
      resolve();
    }),
  );
  await Promise.all([done, socket]);
  // The second slice may run in the same phase of the loop as other immediates, the third may not.
  expect(log.indexOf('socket')).toBeLessThanOrEqual(6);
  expect(log).toHaveLength(8);
});

test('many workers share one slice per turn', async () => {
  const { work, log } = kit();
  let turnsSeen = 0;
  const perTurn: number[] = [];
  let before = 0;
  const watch = (): void => {
    perTurn.push(log.length - before);
    before = log.length;
    turnsSeen += 1;
    if (turnsSeen < 20) setImmediate(watch);
  };
  setImmediate(watch);
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => work(name, 5)));
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(3);
  expect(log.filter((name) => name === 'd')).toHaveLength(5);
});

test('bulk work gets one turn in four while other work waits', async () => {
  const { work, log } = kit();
  await Promise.all([...['x', 'y', 'z'].map((name) => work(name, 30, 'bulk')), ...['a', 'b'].map((name) => work(name, 40))]);
  const done = log.lastIndexOf('b');
  const bulk = log.slice(0, done).filter((name) => 'xyz'.includes(name)).length;
  expect(bulk).toBeGreaterThan(done / 8);
  expect(bulk).toBeLessThan(done / 2.5);
  expect(log).toHaveLength(170);
});

test('after a long step everybody waits until sockets were served', async () => {
  const { work, log, turns } = kit();
  const served = createServer((socket) => {
    log.push('socket');
    socket.destroy();
  }).listen(0);
  await once(served, 'listening');
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      connect((served.address() as AddressInfo).port).on('close', resolve);
      turns.tookLong();
      void work('small', 1);
      void work('large', 1, 'bulk');
      expect(log).toEqual([]);
    });
  });
  await expect.poll(() => log).toHaveLength(3);
  served.close();
});

test('after a slice that lasted too long, the next waits for another pass of the loop', async () => {
  let time = 0;
  const turns = createTurns(() => time);
  const order: string[] = [];
  // In a timer or a socket's callback: immediates follow before timers and sockets are served again.
  await new Promise((resolve) => setTimeout(resolve, 0));
  void turns.bulk();
  time += 30;
  const next = turns.bulk();
  setImmediate(() => order.push('end of this pass'));
  await next;
  order.push('next slice');
  expect(order).toEqual(['end of this pass', 'next slice']);
});

/** Steps that make an organisation busy, of no length. */
function makeBusy(turns: ReturnType<typeof createTurns>, orgId: string): void {
  for (let i = 0; i < 70; i++) void turns.next(orgId);
}

test('a step of an organisation with few steps overtakes the waiting work of a busy one', async () => {
  const { work, log, turns } = kit();
  makeBusy(turns, 'loud');
  void turns.next('quiet');
  const busy = Array.from({ length: 4 }, () => work('loud', 5, 'next', 'loud'));
  await new Promise((resolve) => setImmediate(resolve));
  const before = log.length;
  expect(before).toBeLessThan(20);
  void work('quiet', 1, 'next', 'quiet');
  expect(log.slice(before)).toEqual(['quiet']);
  await Promise.all(busy);
  expect(log).toHaveLength(21);
});

test('the slice of a busy organisation is shorter while another has work', async () => {
  const perTurn = async (others: boolean): Promise<number> => {
    const { work, log, turns } = kit();
    makeBusy(turns, 'loud');
    if (others) void turns.next('quiet');
    const done = work('loud', 10, 'next', 'loud');
    const first = log.length;
    await done;
    return first;
  };
  expect(await perTurn(false)).toBe(3);
  expect(await perTurn(true)).toBe(1);
});

test('organisations with few steps keep to the slice together', async () => {
  const { work, log } = kit();
  const done = Array.from({ length: 50 }, (_, i) => work(`org_${i}`, 1, 'next', `org_${i}`));
  expect(log).toHaveLength(3);
  await Promise.all(done);
  expect(log).toHaveLength(50);
});

test('busy organisations take turns, however many parts their work has', async () => {
  const { work, log, turns } = kit();
  makeBusy(turns, 'many');
  makeBusy(turns, 'one');
  const many = Array.from({ length: 9 }, () => work('many', 10, 'next', 'many'));
  await work('one', 10, 'next', 'one');
  expect(log.filter((name) => name === 'many').length).toBeLessThan(25);
  await Promise.all(many);
});
