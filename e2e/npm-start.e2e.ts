/** `npm start` as a user runs it: a signal to npm stops the service, not only npm. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../packages/server/test/servers/index.ts';
import { until } from './harness/client.ts';

const ROOT = join(import.meta.dirname, '..');

test.each(['SIGTERM', 'SIGINT'] as const)('%s to the npm process closes the port', async (signal) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-npm-'));
  const port = await freePort();
  const env = { PATH: process.env.PATH, HOME: dataDir, PORT: String(port), HOST: '127.0.0.1', DATA_DIR: dataDir, LOG_LEVEL: 'warn' };
  // Its own process group, so that the test can kill leftover processes.
  const npm = spawn('npm', ['start'], { cwd: ROOT, env, stdio: 'ignore', detached: true });
  const exited = new Promise((resolve) => npm.once('exit', resolve));
  try {
    await until('the service', () => isOpen(port));
    npm.kill(signal);
    await exited;
    await until('the port to close', async () => !(await isOpen(port)));
  } finally {
    killGroup(npm.pid);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
  expect(await isOpen(port)).toBe(false);
});

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => resolve(false)).once('connect', () => socket.destroy());
  });
}
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
