import { expect, test } from 'vitest';
import { type JsonBody, serialiseLarge } from './serialise.ts';

test('a large response leaves the loop between its parts: one with a single entry was written in one step', async () => {
  let served = 0;
  let timer = setImmediate(function again() {
    served += 1;
    timer = setImmediate(again);
  });
  // With characters of two code units, of which some lie across the end of a piece.
  const body = { requests: [{ body: Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`a_${n}`, `t😀 ${n}`])) }] };
  const written = await serialiseLarge(body);
  clearImmediate(timer);
  expect(served).toBeGreaterThan(5);
  expect(String((written as JsonBody).json)).toBe(JSON.stringify(body));
});

test('a small response is left to Fastify', async () => {
  const body = { requests: [], at: new Date(0) };
  expect(await serialiseLarge(body)).toBe(body);
});
