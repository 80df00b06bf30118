import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { JoinedRequest } from './joined-request.ts';

test.each([
  ['one byte each', 50_000, 1, 4],
  ['one small chunk', 1, 300, 1],
  ['large chunks are passed on as they are', 3, 65_536, 3],
  ['no body', 0, 0, 0],
])('%s', async (_name, count, size, expected) => {
  const push = vi.spyOn(Readable.prototype, 'push');
  onTestFinished(() => push.mockRestore());
  const request = new JoinedRequest(new Socket());
  for (let i = 0; i < count; i++) request.push(Buffer.alloc(size, i));
  request.push(null);
  expect(push.mock.calls.filter(([chunk]) => chunk !== null)).toHaveLength(expected);
  const sent = Buffer.concat(Array.from({ length: count }, (_, i) => Buffer.alloc(size, i)));
  expect((await buffer(request)).equals(sent)).toBe(true);
});
