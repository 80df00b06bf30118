import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { WeightedCache } from '../collector/weighted-cache.ts';
import { chooseEncoding, EncodedScript } from './encodings.ts';

test.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.000, gzip; q=0', undefined],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  [',;,=;q', undefined],
])('Accept-Encoding %s: %s', (accepted, chosen) => {
  expect(chooseEncoding(accepted)).toBe(chosen);
});

test('a script is compressed once for each encoding, and is the same again when unpacked', async () => {
  const source = 'const ü = 1;'.repeat(100);
  const script = new EncodedScript(source);
  expect(gunzipSync(await script.in('gzip')).toString()).toBe(source);
  expect(brotliDecompressSync(await script.in('br')).toString()).toBe(source);
  expect((await script.in(undefined)).toString()).toBe(source);
  expect(script.in('br')).toBe(script.in('br'));
});

test('the cache evicts the least recently used entries, by weight', () => {
  const cache = new WeightedCache<number>(10);
  cache.set('a', 1, 4);
  cache.set('b', 2, 4);
  cache.get('a');
  cache.set('c', 3, 4);
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([1, undefined, 3]);
  cache.set('a', 5, 1);
  cache.set('d', 4, 5);
  expect(['a', 'c', 'd'].map((key) => cache.get(key))).toEqual([5, 3, 4]);
  cache.set('too heavy', 6, 11);
  expect(['a', 'c', 'd', 'too heavy'].map((key) => cache.get(key))).toEqual([undefined, undefined, undefined, undefined]);
});
