import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { finishInterruptedRestore, removeAbandonedCopies, swapIn } from './interrupted-restore.ts';

const plan = { incoming: 'incoming', replaced: 'replaced', names: ['a', 'b', 'only-old'] };
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'firsthand-restore-'));
  for (const name of plan.names) writeFileSync(join(dataDir, name), 'old');
  mkdirSync(join(dataDir, plan.incoming));
  for (const name of ['a', 'b', 'only-new']) writeFileSync(join(dataDir, plan.incoming, name), 'new');
});
afterEach(() => rmSync(dataDir, { recursive: true }));

function expectSwapped(): void {
  expect(readdirSync(dataDir).sort()).toEqual(['a', 'b', 'only-new', 'replaced']);
  for (const name of ['a', 'b', 'only-new']) expect(readFileSync(join(dataDir, name), 'utf8')).toBe('new');
  for (const name of plan.names) expect(readFileSync(join(dataDir, 'replaced', name), 'utf8')).toBe('old');
}

test('new files are moved in and old ones are kept', () => {
  swapIn(dataDir, plan);
  expectSwapped();
});

test('nothing happens without a plan', () => {
  finishInterruptedRestore(dataDir);
  expect(existsSync(join(dataDir, 'incoming'))).toBe(true);
});

// Each step of the swap as if the process had died right before it.
test.each([0, 1, 2, 3])('a swap interrupted while moving old files out (%i moved) is finished at the next start', (moved) => {
  writeFileSync(join(dataDir, 'restore-plan.json'), JSON.stringify(plan));
  mkdirSync(join(dataDir, 'replaced'));
  for (const name of plan.names.slice(0, moved)) {
    writeFileSync(join(dataDir, 'replaced', name), 'old');
    rmSync(join(dataDir, name));
  }
  finishInterruptedRestore(dataDir);
  expectSwapped();
});

test.each([0, 1, 2, 3])('a swap interrupted while moving new files in (%i moved) is finished at the next start', (placed) => {
  writeFileSync(join(dataDir, 'restore-plan.json'), JSON.stringify(plan));
  mkdirSync(join(dataDir, 'replaced'));
  for (const name of plan.names) {
    writeFileSync(join(dataDir, 'replaced', name), 'old');
    rmSync(join(dataDir, name));
  }
  writeFileSync(join(dataDir, 'replaced', '.moved'), '');
  for (const name of ['a', 'b', 'only-new'].slice(0, placed)) {
    writeFileSync(join(dataDir, name), 'new');
    rmSync(join(dataDir, 'incoming', name));
  }
  finishInterruptedRestore(dataDir);
  expectSwapped();
});

test('a plan that names a path outside of the folder is refused', () => {
  writeFileSync(join(dataDir, 'restore-plan.json'), JSON.stringify({ ...plan, names: ['../elsewhere'] }));
  expect(() => finishInterruptedRestore(dataDir)).toThrow('outside of DATA_DIR');
});

test('a plan that a full disk cut off is none, unless files were moved', () => {
  writeFileSync(join(dataDir, 'restore-plan.json'), '{"incoming":"inc');
  finishInterruptedRestore(dataDir);
  expect(readdirSync(dataDir).sort()).toEqual(['a', 'b', 'incoming', 'only-old']);
  writeFileSync(join(dataDir, 'restore-plan.json'), '{"incoming":"inc');
  mkdirSync(join(dataDir, 'replaced'));
  writeFileSync(join(dataDir, 'replaced', '.moved'), '');
  expect(() => finishInterruptedRestore(dataDir)).toThrow('damaged');
});

test('copies of a restore that was killed are removed, unless the swap has begun', () => {
  const copy = 'restore-2026-11-16T10-00-00-000Z';
  mkdirSync(join(dataDir, copy));
  writeFileSync(join(dataDir, 'restore-plan.json'), JSON.stringify({ ...plan, incoming: copy }));
  removeAbandonedCopies(dataDir);
  expect(existsSync(join(dataDir, copy))).toBe(true);
  rmSync(join(dataDir, 'restore-plan.json'));
  removeAbandonedCopies(dataDir);
  expect(readdirSync(dataDir).sort()).toEqual(['a', 'b', 'incoming', 'only-old']);
});
