import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FILE, text } from './generate-field-copiers.ts';

test('the written-out copiers are up to date', () => {
  expect(readFileSync(FILE, 'utf8')).toBe(text);
});
