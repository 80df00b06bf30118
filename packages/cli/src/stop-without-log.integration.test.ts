/** A stop while NATS is away: nothing can be stored, so nothing is waited for. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { endingWithUs, startNats } from '../../server/test/servers/index.ts';

const MAIN = join(import.meta.dirname, 'firsthand.js');

test('SIGTERM while NATS is away ends the process, and one line says why it did not wait', { tags: ['nats-server'] }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-stop-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const nats = await startNats();
  onTestFinished(() => nats.stop());
  // Of production, where a stop waits for load balancers first.
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0', NATS_URL: nats.url, DRAIN_DELAY: '5s' };
  const [program, ...args] = endingWithUs([process.execPath, MAIN, 'start']);
  const service = spawn(program!, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => service.once('exit', (code, signal) => resolve({ code, signal })));
  let output = '';
  service.stdout.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  const url = () => /http:\/\/\S+?:\d+/.exec(output)?.[0].replace('0.0.0.0', '127.0.0.1');
  await expect.poll(url).toBeDefined();
  await nats.stop();
  await expect.poll(async () => (await fetch(`${url()}/readyz`)).status).toBe(503);
  service.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, signal: null });
  const lines = output.split('\n').filter((line) => line.includes('exiting without waiting for it'));
  expect(lines).toEqual([expect.stringContaining('event log unavailable')]);
});
