import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { IdFilter } from './id-filter.ts';

const BITS = 16;
const MOST = 2 ** BITS / 8;
const bytesOf = (id: string) => Buffer.from(hash('sha1', id, 'hex'), 'hex');
const textOf = (id: string) => hash('sha1', id, 'binary');

test('contains every added id, with few false positives until it is full', () => {
  const filter = new IdFilter(BITS);
  for (let i = 0; i < MOST; i++) filter.add(bytesOf(`known-${i}`));
  expect(filter.full).toBe(false);
  for (let i = 0; i < MOST; i++) expect(filter.mayHold(textOf(`known-${i}`))).toBe(true);
  const mistaken = Array.from({ length: MOST }, (_, i) => filter.mayHold(textOf(`strange-${i}`))).filter(Boolean).length;
  expect(mistaken / MOST).toBeLessThan(0.05);
  filter.add(bytesOf('one more'));
  expect(filter.full).toBe(true);
});

test('an empty filter holds nothing', () => {
  expect(new IdFilter(BITS).mayHold(textOf('x'))).toBe(false);
});
