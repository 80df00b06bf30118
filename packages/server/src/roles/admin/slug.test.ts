import { MAX_SLUG, SLUG_PATTERN } from '@firsthand/core/config/pipeline.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { freeSlug, slugOf } from './slug.ts';

test.each([
  ['Web shop', 'web-shop'],
  ['Café Zürich – EU', 'cafe-zurich-eu'],
  ['  --Hello,   World!--  ', 'hello-world'],
  ["O'Brien’s Store", 'obriens-store'],
  ['Straße & Søn', 'strasse-son'],
  ['Łódź', 'lodz'],
  ['Магазин «Щука»', 'magazin-shchuka'],
  ['Ελλάδα', 'ellada'],
  ['ﬁne ＦＵＬＬ', 'fine-full'],
  ['日本語', 'pipeline'],
  ['🙂', 'pipeline'],
  ['İstanbul', 'istanbul'],
  ['constructor', 'constructor'],
])('%s is %s', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test('every name has a slug that the API would take, with room for a number', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (name) => {
      const slug = slugOf(name);
      expect(slug).toMatch(new RegExp(SLUG_PATTERN));
      expect(freeSlug(slug, new Set([slug])).length).toBeLessThanOrEqual(MAX_SLUG);
    }),
  );
});

test('the first free number is taken', () => {
  expect(freeSlug('a', new Set())).toBe('a');
  expect(freeSlug('a', new Set(['a']))).toBe('a-2');
  expect(freeSlug('a', new Set(['a', 'a-2', 'a-4']))).toBe('a-3');
});
