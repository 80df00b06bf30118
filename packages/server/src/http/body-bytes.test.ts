import { expect, test } from 'vitest';
import { BodyBytes } from './body-bytes.ts';

test('chunks of one byte are joined in a few buffers', () => {
  const text = 'abc'.repeat(10_000);
  const body = new BodyBytes(Buffer.from(text[0]!));
  const buffers = new Set<ArrayBufferLike>();
  for (const char of text.slice(1)) {
    body.add(Buffer.from(char));
    buffers.add(body.joined.buffer);
  }
  expect(body.joined.toString()).toBe(text);
  expect(buffers.size).toBeLessThan(20);
});

test('the first chunk is neither copied nor written into', () => {
  const socket = Buffer.from('first, and what came after it');
  const body = new BodyBytes(socket.subarray(0, 5));
  expect(body.joined.buffer).toBe(socket.buffer);
  body.add(Buffer.from(''));
  body.add(Buffer.from(' and second'));
  expect(body.joined.toString()).toBe('first and second');
  expect(socket.toString()).toBe('first, and what came after it');
});

test('nothing', () => {
  expect(new BodyBytes().joined).toHaveLength(0);
});
