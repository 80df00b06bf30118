/** Installs a packed package into an empty folder, starts it with npx, and follows one event to a local receiver. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const OWNER = { email: 'owner@localhost', password: 'a password for this trial' };

export async function tryPackage(tarball: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-pack-'));
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1_000).toFixed(1)} s`;
  let arrived: (body: string) => void = () => undefined;
  const receiver = createServer(async (req, res) => {
    arrived(await text(req));
    res.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  execFileSync('npm', ['init', '-y'], { cwd: folder, stdio: 'ignore' });
  execFileSync('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: folder, stdio: 'inherit' });
  console.log(`installed after ${seconds()}`);
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const env = { ...process.env, PORT: String(port), HOST: '127.0.0.1', OWNER_EMAIL: OWNER.email, OWNER_PASSWORD: OWNER.password };
  const service = spawn('npx', ['firsthand', 'start'], { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  try {
    const base = `http://127.0.0.1:${port}`;
    for (let tries = 0; !(await isReady(base)); tries++) {
      if (tries > 300 || service.exitCode !== null) throw new Error('the service did not start');
      await sleep(100);
    }
    console.log(`ready after ${seconds()}`);
    const post = async (path: string, token: string | undefined, body: unknown) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const reply = await fetch(base + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization },
        body: JSON.stringify(body),
      });
      if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
      return (await reply.json()) as Record<string, string>;
    };
    const { access_token: token } = await post('/v1/admin/auth/login', undefined, OWNER);
    const pipeline = await post('/v1/admin/pipelines', token, { name: 'Shop' });
    const integration = { source_id: pipeline.id, vendor: 'webhook', name: 'Receiver', enabled: true, config: { url } };
    await post('/v1/admin/integrations', token, integration);
    const delivered = new Promise<string>((resolve) => {
      arrived = resolve;
    });
    await post('/v1/t', pipeline.pipeline_key, { type: 'track', event: 'Order Completed', messageId: 'first', properties: { total: 42 } });
    if (!(await delivered).includes('Order Completed')) throw new Error('another event arrived');
    console.log(`first event delivered after ${seconds()}`);
    const home = await (await fetch(base, { headers: { accept: 'text/html' } })).text();
    if (!home.includes('<title>')) throw new Error('the console is not there');
  } finally {
    // As a terminal does with Ctrl+C: to npx and the program alike.
    if (service.pid !== undefined) process.kill(-service.pid, 'SIGINT');
    await new Promise((resolve) => (service.exitCode === null ? service.once('exit', resolve) : resolve(undefined)));
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function isReady(base: string): Promise<boolean> {
  return await fetch(`${base}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
