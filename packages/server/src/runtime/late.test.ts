import { setImmediate as pass } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { whenLate } from './late.ts';

const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('an answer that came while the process was stopped is not late: queries ended and changes were answered 503', async () => {
  const { port1: here, port2: there } = new MessageChannel();
  const seen: string[] = [];
  const done = Promise.withResolvers<void>();
  here.once('message', () => seen.push('answer'));
  // Both timers are due in the same pass, which reads the answer after them.
  setTimeout(() => {
    there.postMessage('answer');
    block(50);
  }, 1);
  whenLate(1, () => {
    seen.push('late');
    done.resolve();
  });
  await done.promise;
  here.close();
  expect(seen).toEqual(['answer', 'late']);
});

test('a process that was stopped goes on with an exchange of several messages: connections to the database were closed half open', async () => {
  let late = false;
  const timer = whenLate(500, () => {
    late = true;
  });
  block(510);
  // Each pass reads the sockets, and counts for one of five parts at most.
  for (let passes = 0; passes < 3; passes++) await pass();
  expect(late).toBe(false);
  clearTimeout(timer);
});
