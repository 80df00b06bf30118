/** Rules of the house that no compiler, linter or import boundary checks. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isTestCode } from './boundaries/rules.ts';
import { readTree } from './boundaries/source-tree.ts';

const ROOT = join(import.meta.dirname, '..');
const ROLES = join(ROOT, 'packages/server/src/roles');

test.each(readdirSync(ROLES))('the role %s has start.ts, deps.ts and testing/', (role) => {
  expect(['start.ts', 'deps.ts', 'testing'].filter((part) => !existsSync(join(ROLES, role, part)))).toEqual([]);
});

/** Lines with a double cast that have no comment, neither on the line nor in the two lines above it. */
function unexplainedCasts(text: string): number[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const near = lines.slice(Math.max(0, at - 2), at + 1).join('\n');
    return /\bas unknown as\b/.test(line) && !/\/\/ |\/\*\*? |^ *\* /m.test(near) ? [at + 1] : [];
  });
}

test('a cast through unknown in production code says why', () => {
  expect(unexplainedCasts('a();\nb();\nc as unknown as D;')).toEqual([3]);
  const found = [...readTree(ROOT).files].filter(([path]) => !isTestCode(path));
  expect(found.length).toBeGreaterThan(500);
  expect(found.flatMap(([path, text]) => unexplainedCasts(text).map((line) => `${path}:${line}`))).toEqual([]);
});

test('no failed test is retried', () => {
  expect(readFileSync(join(ROOT, 'vitest.config.ts'), 'utf8')).not.toMatch(/\bretry\b/);
});
