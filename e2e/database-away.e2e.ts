/** PostgreSQL is unavailable when the processes start. Ingest accepts with its saved configuration; the other roles wait. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort, startPostgres, type TestServer } from '../packages/server/test/servers/index.ts';
import { type Client, pipelineTo, send, signIn, until } from './harness/client.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { onServers, type Service, startService } from './harness/service.ts';

describe.runIf(onServers)('PostgreSQL away at the start', () => {
  let postgres: TestServer;
  let service: Service;
  let receiver: Receiver;
  let client: Client;
  beforeAll(async () => {
    postgres = await startPostgres();
    service = await startService({ LOG_LEVEL: 'info' }, { postgresUrl: postgres.url });
    receiver = await startReceiver();
    client = await signIn(service);
  });
  afterAll(async () => {
    await service.stop();
    await receiver.close();
    await postgres.stop();
  });
  const track = (to: Service, key: string, messageId: string) =>
    send(to, key, '/v1/t', { type: 'track', event: 'Order Completed', messageId });
  const readiness = (url: string) => fetch(`${url}/readyz`).catch(() => undefined);
  const arrived = () => new Set(receiver.events().map((event) => event.event_id));

  test('ingest accepts, the rest waits, and everything is delivered when it is back', async () => {
    const { key } = await pipelineTo(client, receiver.url);
    await until('the pipeline', async () => (await track(service, key, 'before')).status === 200);
    await until('the delivery', () => arrived().has('before'));
    expect(await service.terminate()).toBe(0);
    await postgres.kill();
    const logged = service.output().length;

    await service.start();
    const port = String(await freePort());
    const processor = service.sibling({ ROLES: 'process,deliver', LOG_LEVEL: 'info', PORT: port });
    await until('the other process to wait', async () => (await readiness(`http://127.0.0.1:${port}`))?.status === 503);
    const ids = Array.from({ length: 20 }, (_, n) => `away-${n}`);
    for (const id of ids) expect((await track(service, key, id)).status).toBe(200);
    expect((await track(service, 'pk_unknown', 'stranger')).status).toBe(401);
    expect(await (await fetch(`${service.url}/readyz`)).json()).toMatchObject({
      status: 'ready',
      degraded: ['database'],
      checks: { store: { ok: false } },
    });
    const refused = await client.call('GET', '/pipelines');
    expect([refused.status, refused.body.error.code]).toEqual([503, 'UNAVAILABLE']);
    expect(arrived()).toEqual(new Set(['before']));

    await postgres.restart();
    const other = await processor;
    await until('every delivery', () => ids.every((id) => arrived().has(id)));
    await until('the management API', async () => (await client.call('GET', '/pipelines')).status === 200);
    for (const output of [service.output().slice(logged), other.output()]) {
      expect(output.split('PostgreSQL does not accept the connection, waiting').length - 1, 'lines about the wait').toBe(1);
      expect(output, 'no stack trace').not.toContain('\\n    at ');
    }
    expect(receiver.events().length, 'nothing arrives twice').toBe(arrived().size);
  });

  test('a process without a saved configuration answers 503 and waits', async () => {
    await service.terminate();
    await postgres.kill();
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const starting = service.sibling({ DATA_DIR: `${service.dataDir}/other`, PORT: port });
    await until('the listener', async () => (await readiness(url))?.status === 503);
    expect(await (await readiness(url))?.json()).toMatchObject({ status: 'starting', checks: { snapshot: { ok: false } } });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const refused = await send({ url }, 'pk_any', '/v1/t', { type: 'track', event: 'Early' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await fetch(`${url}/v1/admin/pipelines`)).status).toBe(503);
    await postgres.restart();
    expect((await fetch(`${(await starting).url}/readyz`)).status).toBe(200);
  });
});
