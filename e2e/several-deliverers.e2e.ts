/** One busy integration delivered by two processes: its rate holds, a visitor's events stay in order, and nothing is lost or repeated. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../packages/server/test/servers/process.ts';
import { type Client, pipelineTo, send, signIn, until } from './harness/client.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { onServers, type Service, startService } from './harness/service.ts';

const VISITORS = 40;
const RATE = 100;
const BATCHES_A_SECOND = 20;
const BATCH_SIZE = 10;

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

  /** Sends 80 events a second until it is stopped. */
  function startSending(key: string): { stop(): Promise<void> } {
    let running = true;
    const sending = (async () => {
      while (running) {
        expect((await send(service, key, '/v1/batch', nextBatch(20))).status).toBe(200);
        await sleep(250);
      }
    })();
    return {
      stop() {
        running = false;
        return sending;
      },
    };
  }
  /** Every event from number `first` on arrived once, those of a visitor in order. */
  function expectEach(events: Record<string, unknown>[], first: number): void {
    const numbers = events.map((event) => (event.properties as { n: number }).n);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: sent - first }, (_, i) => first + i));
    for (const own of Map.groupBy(numbers, (n) => n % VISITORS).values()) expect(own).toEqual(own.toSorted((a, b) => a - b));
  }

  test('two processes share one integration while its number of deliverers is changed under load', async () => {
    const { key, pipeline, integration } = await pipelineTo(client, receiver.url, {
      pipeline: { rate_limit_rps: 100_000 },
      config: { rate_limit_rps: RATE, rate_limit_burst: 10, delivery_order: 'visitor' },
      integration: { max_in_flight: 4 },
    });
    const path = `/pipelines/${pipeline.id}/integrations/${integration.id}` as const;
    const sending = startSending(key);
    await until('the first event', () => receiver.requests.length > 0);
    // An attempt is counted after its answer.
    const first = await until('an attempt', async () => {
      const counts = await attempts();
      return counts.some((count) => count > 0) && counts;
    });
    expect(first.filter((count) => count > 0)).toHaveLength(1);
    await client.put(path, { max_deliverers: 2 });
    await until('both processes to deliver', async () => (await attempts()).every((count) => count > 20));
    await sending.stop();

    // More than the rate allows for some seconds.
    await until('the backlog to be delivered', () => receiver.requests.length >= sent);
    const from = Date.now();
    const already = receiver.requests.length;
    for (let i = 0; i < 4; i++) expect((await send(service, key, '/v1/batch', nextBatch(100))).status).toBe(200);
    await until('all events', () => receiver.requests.length >= sent);
    const seconds = ((receiver.requests.at(-1)?.at ?? 0) - from) / 1_000;
    const rate = (receiver.requests.length - already - 10) / seconds;
    console.log(`${rate.toFixed(1)} requests a second of ${RATE}, by process ${(await attempts()).join(' + ')}`);
    expect(rate).toBeLessThanOrEqual(RATE * 1.1);

    await client.put(path, { max_deliverers: 1 });
    const counted = () =>
      until('all attempts', async () => {
        const counts = await attempts();
        return counts.reduce((sum, count) => sum + count, 0) === sent && counts;
      });
    await until('one deliverer again', async () => {
      const before = await counted();
      expect((await send(service, key, '/v1/batch', nextBatch(20))).status).toBe(200);
      const after = await counted();
      return after.filter((count, at) => count > before[at]!).length === 1;
    });

    expectEach(receiver.events(), 0);
  });

  test('two processes deliver batches: none is larger than its size, and the rate counts requests', { tags: ['long'] }, async () => {
    const first = sent;
    const target = await startReceiver();
    onTestFinished(() => target.close());
    const { key } = await pipelineTo(client, target.url, {
      pipeline: { rate_limit_rps: 100_000 },
      config: {
        ...{ rate_limit_rps: BATCHES_A_SECOND, rate_limit_burst: 5, delivery_order: 'visitor' },
        ...{ batch_enabled: true, batch_size: BATCH_SIZE, batch_interval_ms: 200 },
      },
      integration: { max_deliverers: 2 },
    });
    const before = await attempts();
    await until('the pipeline', async () => (await send(service, key, '/v1/batch', { batch: [] })).status !== 401);
    const sending = startSending(key);
    await until('both processes to deliver', async () => (await attempts()).every((count, at) => count > before[at]! + 5));
    await sending.stop();
    await until('the backlog to be delivered', () => target.events().length >= sent - first);

    const from = Date.now();
    const already = target.requests.length;
    for (let i = 0; i < 4; i++) expect((await send(service, key, '/v1/batch', nextBatch(100))).status).toBe(200);
    await until('all events', () => target.events().length >= sent - first);
    const seconds = ((target.requests.at(-1)?.at ?? 0) - from) / 1_000;
    const rate = (target.requests.length - already - 5) / seconds;
    const sizes = target.requests.map(({ body }) => (JSON.parse(body) as unknown[]).length);
    console.log(`${rate.toFixed(1)} batches a second of ${BATCHES_A_SECOND}, ${sizes.length} batches of up to ${Math.max(...sizes)}`);
    expect(rate).toBeLessThanOrEqual(BATCHES_A_SECOND * 1.1);
    expect(Math.max(...sizes)).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(BATCH_SIZE);
    expectEach(target.events(), first);
  });
});
