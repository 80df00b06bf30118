import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ownAlone } from './sole-owner.ts';

const folder = mkdtempSync(join(tmpdir(), 'firsthand-owner-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a folder has one owner at a time', async () => {
  const owner = ownAlone(folder, 10);
  expect(() => ownAlone(folder, 10)).toThrow('another process is using this folder');
  await owner.close();
  await ownAlone(folder, 10).close();
});

test('an owner that is killed lets go', async () => {
  // Its timer keeps the lock: an object that nobody refers to is collected, and its file closed.
  const code = `const { ownAlone } = await import(${JSON.stringify(join(import.meta.dirname, 'sole-owner.ts'))});
    const owner = ownAlone(${JSON.stringify(folder)}, 10); console.log('mine'); setInterval(() => owner, 1000);`;
  const other = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(other, 'exit');
  try {
    await once(other.stdout, 'data');
    expect(() => ownAlone(folder, 10)).toThrow('another process is using this folder');
  } finally {
    other.kill('SIGKILL');
    await gone;
  }
  await ownAlone(folder, 10).close();
});
