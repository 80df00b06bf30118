import { expect, test, vi } from 'vitest';
import { Rounds } from './rounds.ts';

/** Joins the next round; its name is listed when the round starts. */
function joining(rounds: Rounds) {
  const started: string[] = [];
  return { started, join: (name: string) => void rounds.next().then(() => started.push(name)) };
}
const settle = () => Promise.resolve().then(() => {});

test('messages of several topics start together, after a millisecond', async () => {
  vi.useFakeTimers();
  const rounds = new Rounds();
  const { started, join } = joining(rounds);
  join('a');
  join('b');
  await settle();
  expect(started).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toEqual(['a', 'b']);
  vi.useRealTimers();
});

test('many messages start when the last one before them is confirmed', async () => {
  vi.useFakeTimers();
  const rounds = new Rounds();
  const { started, join } = joining(rounds);
  join('a');
  join('b');
  await vi.advanceTimersByTimeAsync(1);
  for (const name of ['c', 'd', 'e']) join(name);
  rounds.confirmed();
  await vi.advanceTimersByTimeAsync(2);
  expect(started).toEqual(['a', 'b']);
  rounds.confirmed();
  await settle();
  expect(started).toEqual(['a', 'b', 'c', 'd', 'e']);
  vi.useRealTimers();
});

test('a lone message does not wait for the round of others (it waited up to 20 ms)', async () => {
  vi.useFakeTimers();
  const rounds = new Rounds();
  const { started, join } = joining(rounds);
  for (const name of ['a', 'b', 'c']) join(name);
  await vi.advanceTimersByTimeAsync(1);
  join('lone');
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toEqual(['a', 'b', 'c', 'lone']);
  // The messages before it still hold up many.
  for (const name of ['d', 'e', 'f']) join(name);
  for (let i = 0; i < 3; i++) rounds.confirmed();
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toHaveLength(4);
  rounds.confirmed();
  await settle();
  expect(started).toHaveLength(7);
  vi.useRealTimers();
});

test('a message that is never confirmed holds many others up for 20 ms', async () => {
  vi.useFakeTimers();
  const rounds = new Rounds();
  const { started, join } = joining(rounds);
  join('lost');
  await vi.advanceTimersByTimeAsync(1);
  for (const name of ['a', 'b', 'c']) join(name);
  await vi.advanceTimersByTimeAsync(19);
  expect(started).toEqual(['lost']);
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toEqual(['lost', 'a', 'b', 'c']);
  vi.useRealTimers();
});

test('a pace holds up the rounds after the first one, but no lone message', async () => {
  vi.useFakeTimers();
  const rounds = new Rounds(20);
  const { started, join } = joining(rounds);
  join('a');
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toEqual(['a']);
  join('b');
  rounds.confirmed();
  await vi.advanceTimersByTimeAsync(19);
  join('c');
  expect(started).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toEqual(['a', 'b', 'c']);
  await vi.advanceTimersByTimeAsync(20);
  join('lone');
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toEqual(['a', 'b', 'c', 'lone']);
  vi.useRealTimers();
});

test('a round that hurries keeps no pace, and waits for the messages before it', async () => {
  vi.useFakeTimers();
  const rounds = new Rounds(20);
  const { started, join } = joining(rounds);
  join('a');
  await vi.advanceTimersByTimeAsync(1);
  join('b');
  rounds.hurry();
  await settle();
  expect(started).toEqual(['a']);
  rounds.confirmed();
  await settle();
  expect(started).toEqual(['a', 'b']);
  rounds.confirmed();
  join('c');
  rounds.hurry();
  await settle();
  expect(started).toEqual(['a', 'b', 'c']);
  join('d');
  await vi.advanceTimersByTimeAsync(19);
  expect(started).toHaveLength(3);
  vi.useRealTimers();
});
