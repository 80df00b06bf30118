/** One busy integration delivered by two processes: its rate holds, a visitor's events stay in order, and nothing is lost or repeated. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../packages/server/test/servers/process.ts';
import { type Client, pipelineTo, send, signIn, until } from './harness/client.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { onServers, type Service, startService } from './harness/service.ts';

const VISITORS = 40;
const RATE = 100;

describe.runIf(onServers)('several deliverers', () => {
  let service: Service;
  let receiver: Receiver;
  let client: Client;
  let metrics: string[];
  beforeAll(async () => {
    const ports = [await freePort(), await freePort()];
    metrics = ports.map((port) => `http://127.0.0.1:${port}/metrics`);
    service = await startService({ METRICS_PORT: String(ports[0]) });
    await service.sibling({ ROLES: 'deliver', METRICS_PORT: String(ports[1]) });
    receiver = await startReceiver();
    client = await signIn(service);
  });
  afterAll(async () => {
    await service.stop();
    await receiver.close();
  });

  /** Requests to vendors by process. */
  const attempts = () =>
    Promise.all(
      metrics.map(async (url) => {
        const text = await (await fetch(url)).text();
        const counts = text.matchAll(/^firsthand_delivery_attempts_total\{.*outcome="delivered".*\} (\d+)$/gm);
        return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
      }),
    );
  let sent = 0;
  const nextBatch = (size: number) => {
    const batch = Array.from({ length: size }, () => {
      const n = sent++;
      return { type: 'track', event: 'Order Completed', messageId: `m-${n}`, anonymousId: `visitor-${n % VISITORS}`, properties: { n } };
    });
    return { batch };
  };

  test('two processes share one integration while its number of deliverers is changed under load', async () => {
    const { key, pipeline, integration } = await pipelineTo(client, receiver.url, {
      pipeline: { rate_limit_rps: 100_000 },
      config: { rate_limit_rps: RATE, rate_limit_burst: 10, delivery_order: 'visitor' },
      integration: { max_in_flight: 4 },
    });
    const path = `/pipelines/${pipeline.id}/integrations/${integration.id}` as const;
    let running = true;
    const sending = (async () => {
      while (running) {
        expect((await send(service, key, '/v1/batch', nextBatch(20))).status).toBe(200);
        await sleep(250);
      }
    })();
    await until('the first event', () => receiver.requests.length > 0);
    expect((await attempts()).filter((count) => count > 0)).toHaveLength(1);
    await client.put(path, { max_deliverers: 2 });
    await until('both processes to deliver', async () => (await attempts()).every((count) => count > 20), 90_000);
    running = false;
    await sending;

    // More than the rate allows for several seconds.
    await until('the backlog to be delivered', () => receiver.requests.length >= sent, 60_000);
    const from = Date.now();
    const already = receiver.requests.length;
    for (let i = 0; i < 8; i++) expect((await send(service, key, '/v1/batch', nextBatch(100))).status).toBe(200);
    await until('all events', () => receiver.requests.length >= sent, 60_000);
    const seconds = ((receiver.requests.at(-1)?.at ?? 0) - from) / 1_000;
    const rate = (receiver.requests.length - already - 10) / seconds;
    console.log(`${rate.toFixed(1)} requests a second of ${RATE}, by process ${(await attempts()).join(' + ')}`);
    expect(rate).toBeLessThanOrEqual(RATE * 1.1);

    await client.put(path, { max_deliverers: 1 });
    await sleep(14_000);
    expect((await send(service, key, '/v1/batch', nextBatch(40))).status).toBe(200);
    await until('one deliverer again', () => receiver.requests.length >= sent, 60_000);

    const numbers = receiver.events().map((event) => (event.properties as { n: number }).n);
    expect(numbers).toHaveLength(sent);
    expect(new Set(numbers).size).toBe(sent);
    for (const own of Map.groupBy(numbers, (n) => n % VISITORS).values()) expect(own).toEqual(own.toSorted((a, b) => a - b));
  }, 180_000);
});
