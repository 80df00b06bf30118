import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { ThreadLink } from './thread-link.ts';
import { type ThreadSocket, ThreadSockets } from './thread-socket.ts';

async function connected(remoteAddress?: string): Promise<[here: ThreadSocket, there: ThreadSocket]> {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => {
    port1.close();
    port2.close();
  });
  const accepted = Promise.withResolvers<ThreadSocket>();
  new ThreadSockets(new ThreadLink(port2), accepted.resolve);
  const here = new ThreadSockets(new ThreadLink(port1)).open(remoteAddress);
  return [here, await accepted.promise];
}

test('bytes arrive as they were sent, in both directions, and both sides close after both ends', async () => {
  const [here, there] = await connected('203.0.113.7');
  expect(there.remoteAddress).toBe('203.0.113.7');
  const sent = randomBytes(3_000_000);
  const chunks = [1, 16_384, 65_536, 100_000].flatMap((size, i) => [sent.subarray(i * 400_000, i * 400_000 + size)]);
  const closed = Promise.all([once(here, 'close'), once(there, 'close')]);
  const echo = pipeline(there, there);
  const [back] = await Promise.all([buffer(here), pipeline(Readable.from([...chunks, sent]), here, { end: true })]);
  await echo;
  await closed;
  const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  expect(hash(back)).toBe(hash(Buffer.concat([...chunks, sent])));
});

test('small writes of one turn go together, and their order stays', async () => {
  const [here, there] = await connected();
  const parts: string[] = [];
  there.on('data', (chunk) => parts.push(String(chunk)));
  for (const part of ['a', 'b', 'c', 'd']) here.write(part);
  here.end();
  await once(there, 'end');
  expect(parts.join('')).toBe('abcd');
  expect(parts.length).toBeLessThan(4);
});

test('a reader that waits makes the writer wait', async () => {
  const [here, there] = await connected();
  let written = 0;
  for (let i = 0; i < 100; i++) here.write(Buffer.alloc(65_536), () => written++);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(written).toBeLessThan(5);
  expect(there.readableLength).toBeLessThan(200_000);
  there.resume();
  await once(here, 'drain');
  expect(written).toBe(100);
});

test('a reader that waits has one chunk of a large write in its thread, and an empty write sends none', async () => {
  const [here, there] = await connected();
  const sent = randomBytes(5_000_000);
  here.write('');
  here.write(sent.subarray(0, 3_000_000));
  here.write('');
  here.end(sent.subarray(3_000_000));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(there.readableLength).toBeLessThan(300_000);
  expect((await buffer(there)).equals(sent)).toBe(true);
});

test('what was read is free where the reader keeps nothing of it, and what waits stays', async () => {
  const [here, there] = await connected();
  const read: Buffer[] = [];
  const sizes: number[] = [];
  here.freeRead();
  here.on('data', (chunk: Buffer) => {
    read.push(chunk);
    sizes.push(chunk.length);
  });
  there.write(Buffer.alloc(1_000, 1));
  await once(here, 'data');
  here.pause();
  there.write(Buffer.alloc(2_000, 2));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(here.readableLength).toBe(2_000);
  here.resume();
  await once(here, 'data');
  expect(sizes).toEqual([1_000, 2_000]);
  expect(read.map(({ length }) => length)).toEqual([0, 2_000]);
});

test.each([
  ['destroyed', (socket: ThreadSocket) => socket.destroy()],
  ['destroyed with an error', (socket: ThreadSocket) => socket.destroy(new Error('broken'))],
])('one that is %s breaks the other one off', async (_, end) => {
  const [here, there] = await connected();
  const broken = new Promise((resolve) => there.on('close', resolve));
  const errors: unknown[] = [];
  there.on('error', (error) => errors.push(error));
  here.on('error', () => undefined);
  there.write('on its way');
  end(here);
  await broken;
  expect(errors).toMatchObject([{ message: 'connection closed by the other thread' }]);
});

test('what a closed side still gets is left alone', async () => {
  const [here, there] = await connected();
  here.on('error', () => undefined);
  there.on('error', () => undefined);
  here.destroy();
  there.write('too late');
  await new Promise((resolve) => there.on('close', resolve));
});
