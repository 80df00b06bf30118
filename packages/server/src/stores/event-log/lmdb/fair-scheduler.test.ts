import { expect, test } from 'vitest';
import { FairScheduler } from './fair-scheduler.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('one in each turn of the event loop, in the order they came', async () => {
  const turns = new FairScheduler();
  const ran: string[] = [];
  for (const name of ['a', 'b', 'c']) turns.take(() => ran.push(name));
  expect(ran).toEqual([]);
  for (let turn = 1; turn <= 3; turn++) {
    await nextTurn();
    expect(ran).toEqual(['a', 'b', 'c'].slice(0, turn));
  }
});

test('a caller that asks again during its turn is queued last', async () => {
  const turns = new FairScheduler();
  const ran: string[] = [];
  turns.take(() => {
    ran.push('a');
    turns.take(() => ran.push('a again'));
  });
  turns.take(() => ran.push('b'));
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  expect(ran).toEqual(['a', 'b', 'a again']);
});
