import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importsOf } from './imports.ts';
import { CYCLE_RULE, NAMING_RULE, RULES, violations } from './rules.ts';
import { readTree, type SourceTree } from './source-tree.ts';

const ROOT = join(import.meta.dirname, '../..');
const SERVER = 'packages/server/src';
const tree = readTree(ROOT);

/** The rules that one more file in the real tree would break. */
function caught(path: string, text: string): string[] {
  const planted: SourceTree = { ...tree, files: new Map([[path, text]]) };
  return violations(planted).map(({ rule }) => rule);
}

const PLANTED: [rule: string, path: string, text: string][] = [
  ['imports are resolvable', `${SERVER}/roles/ingest/x.ts`, "import { a } from './no-such-file.ts';"],
  ['imports are resolvable', `${SERVER}/roles/ingest/x.ts`, "const name = '../deliver/start.ts'; await import(name);"],
  ['imports are resolvable', `${SERVER}/roles/ingest/x.ts`, "import a from '#internal/deliver.ts';"],
  ['packages import only downwards', 'packages/core/src/x.ts', "import { VENDORS } from '@firsthand/catalog/index.ts';"],
  ['packages import only downwards', 'packages/core/src/x.ts', "import type { VENDORS } from '../../catalog/src/index.ts';"],
  ['packages import only downwards', 'packages/server/src/http/x.ts', "import { main } from '../../../cli/src/main.ts';"],
  ['packages import only downwards', 'packages/server/src/http/x.ts', "import { run } from '../../../../scripts/run.ts';"],
  ['packages declare what they import', 'packages/core/src/x.ts', "import fastify from 'fastify';"],
  ['packages declare what they import', 'packages/server/src/x.ts', "import { test } from 'vitest';"],
  ['core runs without Node', 'packages/core/src/x.ts', "import { readFileSync } from 'node:fs';"],
  ['core runs without Node', 'packages/core/src/x.ts', "import type { Buffer } from 'buffer';"],
  ['core runs without Node', 'packages/collector/src/x.ts', "export const os = await import('node:os');"],
  ['production code does not import test code', `${SERVER}/roles/admin/x.ts`, "import { onStory } from './testing/story.ts';"],
  ['production code does not import test code', `${SERVER}/runtime/x.ts`, "import './slots.test.ts';"],
  [NAMING_RULE, `${SERVER}/roles/admin/test-kit.ts`, 'export const a = 1;'],
  [NAMING_RULE, `${SERVER}/roles/admin/testing.ts`, 'export const a = 1;'],
  ['roles do not import roles', `${SERVER}/roles/ingest/x.ts`, "import { a } from '../admin/start.ts';"],
  ['roles do not import roles', `${SERVER}/roles/ingest/x.ts`, "import type { A } from '@firsthand/server/roles/admin/start.ts';"],
  ['roles do not import roles', `${SERVER}/roles/ingest/deep/x.ts`, "type A = import('../../admin/start.ts').A;"],
  ['roles do not import roles', `${SERVER}/roles/admin/routes/x.ts`, "export * from '../../../roles/./process/geo.ts';"],
  ['only stores and main.ts name a store driver', `${SERVER}/roles/ingest/x.ts`, "import { a } from '../../stores/event-log/lmdb.ts';"],
  ['only stores and main.ts name a store driver', `${SERVER}/operations/x.ts`, "import type { A } from '../stores/config/postgres.ts';"],
  ['only stores and main.ts name a store driver', `${SERVER}/roles/admin/x.ts`, "await import('../../stores/open-stores.ts');"],
  ['the server imports only downwards', `${SERVER}/stores/observe/x.ts`, "import type { A } from '../../outcomes/tally.ts';"],
  ['the server imports only downwards', `${SERVER}/secrets/x.ts`, "import { a } from '../stores/config/organisations.ts';"],
  ['the server imports only downwards', `${SERVER}/snapshot/x.ts`, "import { a } from '../roles/admin/start.ts';"],
  ['the server imports only downwards', `${SERVER}/operations/x.ts`, "import { a } from '../roles/admin/start.ts';"],
  ['the server imports only downwards', `${SERVER}/config.ts`, "import { a } from './snapshot/compile.ts';"],
  ['the server imports only downwards', `${SERVER}/http/x.ts`, "new Worker(new URL('../roles/admin/start.ts', import.meta.url));"],
  ['the server imports only downwards', `${SERVER}/new-part/x.ts`, "import { a } from '../runtime/clock.ts';"],
];

test.each(PLANTED)('%s: %s with %s is caught', (rule, path, text) => {
  expect(caught(path, text)).toContain(rule);
});

test('every rule has a planted violation', () => {
  expect(new Set(PLANTED.map(([rule]) => rule))).toEqual(new Set([...RULES.map(({ name }) => name), NAMING_RULE]));
});

describe(CYCLE_RULE, () => {
  const between = (...texts: string[]) => {
    const files = new Map(texts.map((text, at) => [`packages/core/src/${'abc'[at]}.ts`, text]));
    return violations({ ...tree, files, exists: (path) => files.has(path) }).filter(({ rule }) => rule === CYCLE_RULE);
  };
  test.each([
    ['of three files', ["import './b.ts';", "export * from './c.ts';", "import { a } from './a.ts';"]],
    ['of a file with itself', ["import { a } from './a.ts'; export const a = 1;"]],
    ['of an import that names types only but loads the file', ["import { type B } from './b.ts';", "export { a as b } from './a.ts';"]],
  ])('a cycle %s is caught once', (_name, texts) => {
    expect(between(...texts).map(({ message }) => message)).toEqual([expect.stringMatching(/^imports in a circle: .*a\.ts/)]);
  });
  test.each([
    ['types only', ["import type { B } from './b.ts'; export type { C } from './b.ts';", "import { a } from './a.ts';"]],
    ['an import that is made later', ["const b = () => import('./b.ts');", "import './a.ts';"]],
    ['two ways to one file', ["import './b.ts'; import './c.ts';", "import './c.ts';", 'export const c = 1;']],
  ])('no cycle: %s', (_name, texts) => {
    expect(between(...texts)).toEqual([]);
  });
});

test.each([
  [`${SERVER}/roles/ingest/x.ts`, "import type { EventLog } from '../../stores/event-log/port.ts';"],
  [`${SERVER}/roles/ingest/x.test.ts`, "import { a } from '../../stores/event-log/lmdb.ts'; import { test } from 'vitest';"],
  [`${SERVER}/main.ts`, "import { a } from './stores/open-stores.ts'; import { b } from './roles/admin/start.ts';"],
  ['packages/core/src/x.ts', "import { sha256 } from '@noble/hashes/sha2.js'; // import 'node:fs'"],
])('%s with %s is allowed', (path, text) => {
  expect(caught(path, text)).toEqual([]);
});

describe('importsOf', () => {
  test.each([
    ["import './a.ts'", './a.ts'],
    ["import { type A } from './a.ts'", './a.ts'],
    ["export type { A } from './a.ts'", './a.ts'],
    ["import A = require('./a.ts')", './a.ts'],
    ["const a = import.meta.resolve('./a.ts')", './a.ts'],
    ["const text = \"import './a.ts'\"; // import './b.ts'", undefined],
    ["new URL('./logo.svg', import.meta.url)", undefined],
  ])('%s', (text, specifier) => {
    expect(importsOf('x.ts', text).map((found) => found.specifier)).toEqual(specifier === undefined ? [] : [specifier]);
  });
});

test('the command fails on a violation and names the line', () => {
  const root = mkdtempSync(join(tmpdir(), 'firsthand-boundaries-'));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const run = () => execFileSync(process.execPath, [join(ROOT, 'scripts/check-boundaries.ts'), root], { encoding: 'utf8', stdio: 'pipe' });
  try {
    write(`${SERVER}/roles/deliver/ports.ts`, 'export const a = 1;');
    write(`${SERVER}/roles/ingest/collect.ts`, 'export const b = 2;');
    expect(run()).toBe('');
    write(`${SERVER}/roles/ingest/collect.ts`, "\nexport { a } from '../deliver/ports.ts';");
    expect(run).toThrow(/roles\/ingest\/collect\.ts:2: role ingest must not import role deliver/);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
