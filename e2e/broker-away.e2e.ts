/** NATS is unavailable when a process starts. */
import { describe, expect, test } from 'vitest';
import { freePort, startNats } from '../packages/server/test/servers/index.ts';
import { send, until } from './harness/client.ts';
import { onServers, startService } from './harness/service.ts';

describe.runIf(onServers)('NATS away at the start', () => {
  test('a process is alive, says that it starts, answers 503, and goes on when NATS is there', async () => {
    const nats = await startNats();
    await nats.kill();
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const starting = startService({ PORT: port }, { natsUrl: nats.url });
    try {
      await until('the listener', () =>
        fetch(`${url}/healthz`).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
      const readiness = await fetch(`${url}/readyz`);
      expect([readiness.status, await readiness.json()]).toMatchObject([503, { status: 'starting', checks: { log: { ok: false } } }]);
      const refused = await send({ url }, 'pk_any', '/v1/t', { type: 'track', event: 'Early' });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
      expect((await fetch(`${url}/v1/admin/pipelines`)).status).toBe(503);
    } finally {
      await nats.restart();
      const service = await starting;
      const { status } = await fetch(`${url}/readyz`);
      // The log's own metrics cannot be read then.
      await nats.kill();
      const metrics = await fetch(`${url}/metrics`);
      const text = await metrics.text();
      await nats.restart();
      await service.stop();
      await nats.stop();
      expect(status).toBe(200);
      expect([metrics.status, text]).toEqual([200, expect.stringContaining('\nfirsthand_accept_duration_seconds_count')]);
    }
  });
});
