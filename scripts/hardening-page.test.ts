/** The table of regression tests in docs/explanation/hardening.md names files and texts that exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/explanation/hardening.md'), 'utf8');
const rows = [...page.matchAll(/^\| ([^|]+) \| \[[^\]]+\]\(\.\.\/\.\.\/([^)]+)\) \| ([^|]+) \|/gm)].map(([, line, file, text]) => [
  line,
  file,
  text,
]);

test.each(rows)('%s: %s', (_line, file = '', text = '') => {
  expect(readFileSync(join(root, file), 'utf8')).toContain(text);
});

test('every finding has a line', () => {
  expect(new Set(rows.map(([line = '']) => line.split(' ')[0]))).toEqual(new Set(['1', '2', '3', '4', '5', '6', '7', 'Beyond:']));
});
