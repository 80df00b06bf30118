/** Traces and statistics are complete while two processes record them, also when the second one takes its share under load. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../packages/server/test/servers/process.ts';
import { pipelineTo, send, signIn, until } from './harness/client.ts';
import { startReceiver } from './harness/receiver.ts';
import { onServers, startService } from './harness/service.ts';

const VISITORS = 40;
const ports = [await freePort(), await freePort()];

/** Events whose outcomes each process has recorded. */
const recorded = () =>
  Promise.all(
    ports.map(async (port) => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return Number(/^firsthand_events_total\{kind="received"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    }),
  );

test.runIf(onServers)('two processes record every event once', async () => {
  const service = await startService({ METRICS_PORT: String(ports[0]) });
  onTestFinished(() => service.stop());
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const client = await signIn(service);
  const { pipeline, key } = await pipelineTo(client, receiver.url, { pipeline: { rate_limit_rps: 100_000 } });
  const ids: string[] = [];
  let running = true;
  const sending = (async () => {
    while (running) {
      const batch = Array.from({ length: 20 }, () => {
        const n = ids.push(`m-${ids.length}`) - 1;
        return { type: 'track', event: 'Recorded', messageId: `m-${n}`, anonymousId: `visitor-${n % VISITORS}` };
      });
      expect((await send(service, key, '/v1/batch', { batch })).status).toBe(200);
      await sleep(100);
    }
  })();
  await service.sibling({ ROLES: 'process', METRICS_PORT: String(ports[1]) });
  await until('both processes to record', async () => (await recorded()).every((count) => count > 100));
  running = false;
  await sending;

  const totals = await until('the statistics', async () => {
    const { totals: current } = await client.get(`/stats?pipeline_id=${pipeline.id}`);
    return current.received >= ids.length && current.delivered >= ids.length && current;
  });
  console.log(`${ids.length} events, recorded by process: ${(await recorded()).join(' + ')}`);
  expect(totals).toMatchObject({ received: ids.length, delivered: ids.length });

  const traced: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await client.call(
      'GET',
      `/events?pipeline_id=${pipeline.id}&limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    for (const { event_id, deliveries } of page.body.events) {
      traced.push(event_id);
      expect(deliveries).toMatchObject([{ status: 'delivered' }]);
    }
    cursor = page.body.next_cursor;
  }
  expect(traced.toSorted()).toEqual(ids.toSorted());
});
