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

test('the next round starts when the last message of this one is confirmed', async () => {
  vi.useFakeTimers();
  const rounds = new Rounds();
  const { started, join } = joining(rounds);
  join('a');
  join('b');
  await vi.advanceTimersByTimeAsync(1);
  join('c');
  rounds.confirmed();
  await vi.advanceTimersByTimeAsync(2);
  expect(started).toEqual(['a', 'b']);
  rounds.confirmed();
  await settle();
  expect(started).toEqual(['a', 'b', 'c']);
  vi.useRealTimers();
});

test('a topic with nothing in flight waits for the round of the others too', async () => {
  vi.useFakeTimers();
  const rounds = new Rounds();
  const { started, join } = joining(rounds);
  join('slow');
  await vi.advanceTimersByTimeAsync(1);
  join('lone');
  await vi.advanceTimersByTimeAsync(19);
  expect(started).toEqual(['slow']);
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toEqual(['slow', 'lone']);
  vi.useRealTimers();
});

test('a message that is never confirmed does not hold up the others', async () => {
  vi.useFakeTimers();
  const rounds = new Rounds();
  const { started, join } = joining(rounds);
  join('lost');
  await vi.advanceTimersByTimeAsync(1);
  join('a');
  await vi.advanceTimersByTimeAsync(20);
  expect(started).toEqual(['lost', 'a']);
  vi.useRealTimers();
});
