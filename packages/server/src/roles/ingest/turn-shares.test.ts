import { expect, test } from 'vitest';
import { TurnShares } from './turn-shares.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Each request takes 1 ms of a clock that nothing else moves. */
function kit() {
  let time = 0;
  const shares = new TurnShares(() => time);
  let ran = '';
  const send = (org: string, bytes = 1) =>
    shares.run(org, bytes, () => {
      ran += org;
      time += 1;
    });
  return { send, ran: () => ran };
}

test('one organisation alone is not limited', () => {
  const { send, ran } = kit();
  for (let i = 0; i < 20; i++) send('a');
  expect(ran()).toBe('a'.repeat(20));
});

test('with several, the requests of a loud one wait for later turns, and others go ahead', async () => {
  const { send, ran } = kit();
  send('b');
  for (let i = 0; i < 8; i++) send('a');
  expect(ran()).toBe('baa');
  send('b');
  expect(ran()).toBe('baab');
  await nextTurn();
  expect(ran()).toBe('baabaaa');
  for (let i = 0; i < 4; i++) await nextTurn();
  expect(ran()).toBe('baabaaaaaa');
});

test('those that wait are taken in turns by organisation', async () => {
  const { send, ran } = kit();
  for (const org of 'bbbb'.split('')) send(org);
  for (const org of 'aaaa'.split('')) send(org);
  for (const org of 'bb'.split('')) send(org);
  for (let i = 0; i < 5; i++) await nextTurn();
  expect(ran().length).toBe(10);
});

test('bodies that wait are bounded', () => {
  const { send } = kit();
  send('b');
  for (let i = 0; i < 3; i++) send('a');
  const large = 5 * 1_048_576;
  expect([send('a', large), send('a', large), send('a', large), send('a', large)]).toEqual([true, true, true, false]);
});
