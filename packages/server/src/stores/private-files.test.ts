import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tightenDataDir } from './private-files.ts';

test('files that an earlier version left with mode 0644 are tightened, others are left alone', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-modes-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  mkdirSync(join(dataDir, 'log'));
  const ours = ['config.sqlite', 'config.sqlite-wal', 'observe.sqlite', 'secret-key', 'log/data.mdb', 'log/lock.mdb'];
  for (const name of [...ours, 'notes.txt']) {
    writeFileSync(join(dataDir, name), '');
    chmodSync(join(dataDir, name), 0o644);
  }
  chmodSync(join(dataDir, 'log'), 0o755);
  expect(tightenDataDir(dataDir)).toEqual([]);
  const mode = (name: string) => statSync(join(dataDir, name)).mode & 0o777;
  for (const name of ours) expect([name, mode(name)]).toEqual([name, 0o600]);
  expect([mode('log'), mode('notes.txt')]).toEqual([0o700, 0o644]);
});

test('an empty folder has nothing to tighten', () => {
  expect(tightenDataDir(join(tmpdir(), 'firsthand-no-such-folder'))).toEqual([]);
});
