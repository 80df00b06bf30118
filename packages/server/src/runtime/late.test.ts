import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { whenLate } from './late.ts';

test('an answer that came while the process was stopped is not late: queries ended and changes were answered 503', async () => {
  const { port1: here, port2: there } = new MessageChannel();
  const seen: string[] = [];
  const done = Promise.withResolvers<void>();
  here.once('message', () => seen.push('answer'));
  setTimeout(() => seen.push('timer'), 1);
  whenLate(1, () => {
    seen.push('late');
    done.resolve();
  });
  there.postMessage('answer');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  await done.promise;
  here.close();
  expect(seen).toEqual(['timer', 'answer', 'late']);
});
