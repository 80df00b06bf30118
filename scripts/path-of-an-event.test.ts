/** The page that lists the functions on an event's path must not go stale. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const sourceOf = (path: string) =>
  read(path.startsWith('core/') ? path.replace('core/', 'packages/core/src/') : `packages/server/src/${path}`);
const ROW = /^\| `([^`]+\.ts)` \| ([^|]+) \|/gm;

const steps = [...read('docs/explanation/path-of-an-event.md').matchAll(ROW)].flatMap(([, path = '', names = '']) =>
  [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [path, name] as const),
);

test('the page has steps', () => {
  expect(steps.length).toBeGreaterThan(30);
});
test.each(steps)('%s declares %s', (path, name) => {
  expect(sourceOf(path)).toMatch(new RegExp(`(^|function\\*? |class |async |  )${name}[ <({]`, 'm'));
});
