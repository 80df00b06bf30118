import { expect, test } from 'vitest';
import { FairScheduler } from './fair-scheduler.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test.each([
  ['long ones run one in each turn of the event loop', 5, ['a', 'ab', 'abc']],
  ['short ones share a turn', 0.5, ['abc', 'abc', 'abc']],
])('%s, in the order they came', async (_name, ms, afterTurns) => {
  let time = 0;
  const turns = new FairScheduler(() => time);
  let ran = '';
  for (const name of ['a', 'b', 'c'])
    turns.take(() => {
      ran += name;
      time += ms;
    });
  expect(ran).toBe('');
  for (const expected of afterTurns) {
    await nextTurn();
    expect(ran).toBe(expected);
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
