import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { RecordTooLarge } from '../stores/event-log/port.ts';
import { ThreadLink } from './thread-link.ts';

function pair(): [ThreadLink, ThreadLink] {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => {
    port1.close();
    port2.close();
  });
  return [new ThreadLink(port1, { RecordTooLarge }), new ThreadLink(port2)];
}

test('a call gets the answer of the other thread, whatever order the answers come in', async () => {
  const [here, there] = pair();
  const waits: (() => void)[] = [];
  there.answer('double', async (n: number) => {
    await new Promise<void>((resolve) => waits.push(resolve));
    return 2 * n;
  });
  const answers = [here.call('double', 1), here.call('double', 2)];
  while (waits.length < 2) await new Promise((resolve) => setImmediate(resolve));
  waits[1]?.();
  expect(await answers[1]).toBe(4);
  waits[0]?.();
  expect(await answers[0]).toBe(2);
});

test('notices and calls arrive in the order in which they were sent', async () => {
  const [here, there] = pair();
  const seen: unknown[] = [];
  there.on('note', (value) => seen.push(value));
  there.answer('ask', () => [...seen]);
  here.tell('note', 1);
  here.tell('note', 2);
  const answer = here.call('ask');
  here.tell('note', 3);
  expect(await answer).toEqual([1, 2]);
});

test.each([
  ['keeps its class where it is known', new RecordTooLarge('5 MB'), RecordTooLarge, 'RecordTooLarge'],
  ['keeps name and text otherwise', new TypeError('no such thing'), Error, 'TypeError'],
  ['is an error even if something else was thrown', 'text', Error, 'Error'],
])('an error %s', async (_, thrown, kind, name) => {
  const [here, there] = pair();
  there.answer('fail', () => {
    throw thrown;
  });
  const error = await here.call('fail').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(kind);
  expect(error).toMatchObject({ name, message: thrown instanceof Error ? thrown.message : 'text' });
});

test('a call that nobody answers to fails', async () => {
  const [here] = pair();
  await expect(here.call('unknown')).rejects.toThrow('no answer to unknown');
});

test('a result that cannot be copied fails the call, and later calls work', async () => {
  const [here, there] = pair();
  there.answer('function', () => () => undefined);
  there.answer('text', () => 'text');
  await expect(here.call('function')).rejects.toThrow('could not be cloned');
  expect(await here.call('text')).toBe('text');
});

test('when the other thread is gone, waiting and later calls fail', async () => {
  const [here, there] = pair();
  there.answer('wait', () => new Promise(() => {}));
  const waiting = here.call('wait');
  here.end(new Error('the thread ended'));
  await expect(waiting).rejects.toThrow('the thread ended');
  await expect(here.call('wait')).rejects.toThrow('the thread ended');
  expect(() => here.tell('note', 1)).not.toThrow();
});
