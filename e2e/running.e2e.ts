import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { endingWithUs } from '../packages/server/test/servers/index.ts';
import { pipelineTo, send, signIn, until } from './harness/client.ts';
import { startReceiver } from './harness/receiver.ts';
import { onServers } from './harness/service.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage();

const MAIN = join(import.meta.dirname, '../packages/cli/src/firsthand.js');
function firsthand(args: string[], env: Record<string, string>): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) =>
    execFile(process.execPath, [MAIN, ...args], { env: { PATH: process.env.PATH!, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    ),
  );
}

// On stores of their own, or none: once is enough.
describe.skipIf(onServers).concurrent('a start that fails or waits', () => {
  test('invalid settings are all reported, one per line, and the start fails with exit code 1', async () => {
    const { code, stderr } = await firsthand(['start'], { PORT: 'eighty', MODE: 'prod', EVENT_RETENTION: 'long' });
    expect(code).toBe(1);
    expect(
      stderr
        .trim()
        .split('\n')
        .map((line) => line.split(':', 1)[0]),
    ).toEqual(['PORT', 'MODE', 'EVENT_RETENTION']);
  });

  test('SIGTERM stops a service that still waits for its broker, with exit code 0', async ({ onTestFinished }) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-waiting-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const env = { PATH: process.env.PATH!, DATA_DIR: dataDir, PORT: '0', NATS_URL: 'nats://127.0.0.1:1' };
    const [program, ...args] = endingWithUs([process.execPath, MAIN, 'start']);
    const waiting = spawn(program!, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => waiting.once('exit', (code, signal) => resolve({ code, signal })));
    let output = '';
    waiting.stdout.on('data', (chunk: Buffer) => void (output += chunk.toString()));
    await until('it to say so', () => output.includes('no server accepts the connection'));
    waiting.kill('SIGTERM');
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  test('a second process on the same DATA_DIR exits, and the first keeps working', async () => {
    const { code, stderr } = await firsthand(['start'], { ...service.env, PORT: '0' });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^Firsthand could not start: DATA_DIR: [^\n]+\n$/) });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });

  test('a DATA_DIR that cannot be created is named', async () => {
    const { code, stderr } = await firsthand(['start'], { ...service.env, PORT: '0', DATA_DIR: import.meta.filename });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^Firsthand could not start: DATA_DIR: [^\n]+\n$/) });
  });
});

describe('running the service', () => {
  test('health, readiness, metrics, documents and the page at the root', async () => {
    const get = async (path: string) => {
      const reply = await fetch(`${service.url}${path}`);
      return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() };
    };
    expect((await get('/healthz')).status).toBe(200);
    expect(JSON.parse((await get('/readyz')).text)).toMatchObject({
      status: 'ready',
      checks: { store: { ok: true }, log: { ok: true }, snapshot: { ok: true } },
    });
    const served = [...(await get('/metrics')).text.matchAll(/^# TYPE (firsthand_\w+)/gm)].map(([, name]) => name);
    const documented = readFileSync(new URL('../docs/reference/metrics.md', import.meta.url), 'utf8');
    expect(served).toContain('firsthand_snapshot_version');
    expect(served.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
    expect(await get('/')).toMatchObject({
      status: 200,
      type: expect.stringContaining('text/html'),
      text: expect.stringContaining('Firsthand'),
    });
    expect(await get('/docs')).toMatchObject({ status: 200, type: expect.stringContaining('text/html') });
    const document = JSON.parse((await get('/v1/admin/openapi.json')).text) as { openapi: string; paths: object };
    expect(document.openapi).toMatch(/^3\.1/);
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/v1/admin/pipelines', '/v1/t', '/v1/batch', '/v1/webhook']));
    expect(await get('/v1/admin/nothing')).toMatchObject({ status: 404, text: expect.stringContaining('NOT_FOUND') });
  });

  test('an organisation created with the CLI works in the running service and sees nothing of the other', async () => {
    const made = await firsthand(
      ['org', 'create', '--name', 'Second', '--owner-email', 'second@firsthand.test', '--owner-password', 'another-long-password'],
      service.env,
    );
    expect(made).toMatchObject({ code: 0 });
    expect(Object.keys(JSON.parse(made.stdout) as object)).toEqual(['org_id', 'user_id']);
    const { pipeline } = await pipelineTo(client, receiver.url);
    const second = await signIn(service, { email: 'second@firsthand.test', password: 'another-long-password' });
    expect((await second.call('GET', `/pipelines/${pipeline.id}`)).status).toBe(404);
    expect((await second.get('/pipelines')).total).toBe(0);
    expect(await firsthand(['audit', 'verify'], service.env)).toMatchObject({ code: 0 });
  });

  test.runIf(onServers)(
    'SIGTERM answers a change that waits for another process: its connection was cut without an answer',
    async ({ onTestFinished }) => {
      const other = new pg.Client({ connectionString: service.databaseUrl });
      await other.connect();
      onTestFinished(() => other.end());
      await other.query('begin; update config_version set version = version where id = 1');
      const isWaiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      const change = client.call('POST', '/pipelines', { name: 'Late' });
      await until('it to wait', async () => (await other.query(isWaiting)).rowCount !== 0);
      const ended = service.terminate();
      const { status, headers, body } = await change;
      expect([status, headers.get('retry-after'), body.error.code]).toEqual([503, '2', 'UNAVAILABLE']);
      expect(await ended).toBe(0);
      await other.query('rollback');
      await service.start();
    },
  );

  test('SIGTERM under load loses nothing, delivers nothing twice and exits with 0', async () => {
    const own = await startReceiver();
    const { key } = await pipelineTo(client, own.url, { pipeline: { rate_limit_rps: 100_000 } });
    const accepted: string[] = [];
    let running = true;
    const senders = Array.from({ length: 8 }, async (_, lane) => {
      for (let n = 0; running; n++) {
        const id = `term-${lane}-${n}`;
        const reply = await send(service, key, '/v1/t', { type: 'track', event: 'Term', messageId: id }).catch(() => undefined);
        if (reply?.status === 200) accepted.push(id);
        else if (!reply) break;
      }
    });
    await until('some traffic', () => accepted.length > 200);
    const code = await service.terminate();
    running = false;
    await Promise.all(senders);
    expect(code).toBe(0);
    await service.start();
    // Compares ids, not counts: an event whose reply was lost may have been accepted too.
    const missing = () => {
      const arrived = new Set(own.events().map((event) => event.event_id));
      return accepted.filter((id) => !arrived.has(id));
    };
    await until('everything accepted', () => missing().length === 0);
    const ids = own.events().map((event) => event.event_id as string);
    expect(ids.length).toBe(new Set(ids).size);
    await own.close();
  });

  test.skipIf(onServers)('the same stores serve any number of threads, one after the other', async () => {
    const { key } = await pipelineTo(client, receiver.url);
    const { THREADS: asBefore = 'auto' } = service.env;
    for (const THREADS of ['1', '2', '3', asBefore]) {
      await service.terminate();
      await service.start({ THREADS });
      const messageId = `threads-${THREADS}`;
      await send(service, key, '/v1/t', { type: 'track', event: 'Threads', userId: 'u-threads', messageId });
      const deliveries = async () => (await client.call('GET', `/events/${messageId}`)).body.deliveries ?? [];
      await until(`the delivery with THREADS=${THREADS}`, async () => (await deliveries())[0]?.status === 'delivered');
    }
  });

  test.runIf(onServers)('losing and regaining the broker is logged once each', async () => {
    const other = await service.sibling({ ROLES: 'process', LOG_LEVEL: 'info' });
    await service.nats!.restart();
    await until('the connection to be restored', () => other.output().includes('NATS connection restored'));
    const times = (text: string) => other.output().split(text).length - 1;
    // Whichever part of the process meets the outage first writes the line: the connection itself, or a write that failed.
    expect([times('"outage":"event log"'), times('NATS connection restored')]).toEqual([1, 1]);
    expect(await other.terminate()).toBe(0);
    await until('the first process', async () => (await fetch(`${service.url}/readyz`)).status === 200);
  });

  test.runIf(onServers)('with one role per process, disabling a pipeline reaches the other process', async () => {
    const ingest = await service.sibling({ ROLES: 'ingest' });
    const { pipeline, key } = await pipelineTo(client, receiver.url);
    await until(
      'the other process to know the pipeline',
      async () => (await send(ingest, key, '/v1/t', { type: 'track', event: 'Split', messageId: 'split-1' })).status === 200,
    );
    await until('the delivery', () => receiver.events().some((event) => event.event_id === 'split-1'));
    await client.put(`/pipelines/${pipeline.id}`, { enabled: false });
    await until('the refusal', async () => (await send(ingest, key, '/v1/t', { type: 'track', event: 'Split' })).status === 401);
  });
});
