/**
 * The stories that lean on the log most, once more on JetStream.
 *
 * @module-tag nats-server
 */
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startNats, type TestServer } from '../../../test/servers/index.ts';
import { connectNats, openJetStreamLog } from '../../stores/event-log/jetstream.ts';
import { anEvent, anIntegration, Bench, compiledWebhook, pause, Receiver, until } from './testing/bench.ts';

let server: TestServer;
let connection: NatsConnection;
let bench: Bench;
let receiver: Receiver;
beforeAll(async () => {
  server = await startNats();
  connection = await connectNats(server.url);
});
afterAll(async () => {
  await connection.close();
  await server.stop();
});
beforeEach(async () => {
  bench = await Bench.open(() => openJetStreamLog({ connection, dedupWindowMs: 60_000, replicas: 1 }));
  receiver = await Receiver.start();
});
afterEach(async () => {
  for (const topic of ['events.', 'replay.', 'outcomes', 'dlq-', 'limits.', 'barriers'])
    for (const name of await bench.log.topics(topic)) await bench.log.remove(name);
  await bench.close();
  await receiver.stop();
});
let round = 0;
const events = (count: number) => Array.from({ length: count }, (_, i) => anEvent(`r${round}-${i}`));
beforeEach(() => void round++);

test('delivers once each, with one outcome', async () => {
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url)), anIntegration(compiledWebhook(receiver.url), { id: 'int_2' })]);
  bench.start();
  await bench.append(events(500));
  // On a slow machine the groups do not exist yet, and nothing waits for a group that never consumed.
  await until(() => receiver.requests.length >= 1_000);
  await bench.settled('int_1');
  await bench.settled('int_2');
  expect(receiver.requests).toHaveLength(1_000);
  await until(async () => (await bench.counts('int_1')).delivered === 500);
  expect(await bench.counts('int_1')).toEqual({ delivered: 500 });
});

test('walks the schedule and ends in a dead letter', async () => {
  receiver.respond = (_request, response) => void response.writeHead(503).end();
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url, { max_retries: 3 }))]);
  bench.start({ retryBaseMs: 20 });
  await bench.append(events(1));
  // The outcome is stored after the letter.
  await until(async () => (await bench.counts()).dead_lettered === 1);
  expect(await bench.deadLetters()).toHaveLength(1);
  expect(receiver.requests.map(({ headers }) => headers['x-firsthand-attempt'])).toEqual(['1', '2', '3', '4']);
  const gaps = receiver.requests.slice(1).map((request, i) => request.at - receiver.requests[i]!.at);
  for (const [i, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(20 * 4 ** i - 1);
  expect(await bench.counts()).toEqual({ retrying: 3, dead_lettered: 1 });
});

test('a dead letter is published on the broker subject of its integration', async () => {
  const heard: { event_id: string; reason: string; attempts: unknown[] }[] = [];
  const listening = connection.subscribe('dlq-delivery-int_1', { callback: (_error, message) => void heard.push(message.json()) });
  receiver.respond = (_request, response) => void response.writeHead(404).end('nobody here');
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
  bench.start();
  const [event] = events(1);
  await bench.append([event!]);
  await until(() => heard.length === 1);
  expect(heard[0]).toMatchObject({ event_id: event!.event_id, reason: 'http_404: nobody here', attempts: [{ status: 404 }] });
  listening.unsubscribe();
});

test('a large event that the vendor refuses ends in a dead letter, and the integration goes on (it stalled)', async () => {
  receiver.respond = (_request, response) => void response.writeHead(404).end();
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
  bench.start();
  const [large, next] = events(2);
  const heard: { event: object }[] = [];
  const listening = connection.subscribe('dlq-delivery-int_1', { callback: (_error, message) => void heard.push(message.json()) });
  await bench.append([{ ...large!, properties: { note: 'x'.repeat(1_500_000) } }]);
  await until(async () => (await bench.deadLetters()).length === 1);
  // It was not announced.
  await until(() => heard.length === 1);
  const { event_id, type, event, timestamp } = large!;
  expect(heard[0]).toMatchObject({ event_id, event: { event_id, type, event, timestamp, truncated: true } });
  listening.unsubscribe();
  await bench.settled();
  await bench.append([next!]);
  await until(async () => (await bench.deadLetters()).length === 2);
  await bench.settled();
});

test('a failed batch is retried whole after a restart', async () => {
  receiver.respond = (_request, response) => void response.writeHead(receiver.requests.length === 1 ? 500 : 200).end();
  const vendor = compiledWebhook(receiver.url, { batch_enabled: true, batch_size: 20, batch_interval_ms: 60_000 });
  bench.snapshots.set([anIntegration(vendor)]);
  bench.start({ retryBaseMs: 500 });
  await bench.append(events(20));
  await until(() => receiver.requests.length === 1);
  await pause(100);
  await bench.restart({ retryBaseMs: 500 });
  await until(() => receiver.requests.length === 2);
  await bench.settled();
  expect(receiver.requests).toHaveLength(2);
  expect(receiver.requests[1]!.headers['webhook-id']).toBe(receiver.requests[0]!.headers['webhook-id']);
  expect(receiver.requests[1]!.at - receiver.requests[0]!.at).toBeGreaterThanOrEqual(499);
});

test('a stop under load loses and repeats nothing', async () => {
  receiver.respond = (_request, response) => void setTimeout(() => response.end(), 3);
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
  bench.start();
  await bench.append(events(1_500));
  for (let i = 0; i < 3; i++) {
    await pause(80);
    await bench.restart();
  }
  await bench.settled('int_1');
  expect(receiver.requests).toHaveLength(1_500);
  expect(new Set(receiver.eventIds).size).toBe(1_500);
  await until(async () => (await bench.counts()).delivered === 1_500);
  expect(await bench.counts()).toEqual({ delivered: 1_500 });
});

test('1,001 integrations on one pipeline: every one delivers (the last one reported "ok" and never did)', async () => {
  const vendor = compiledWebhook(receiver.url);
  bench.snapshots.set(Array.from({ length: 1_001 }, (_, i) => anIntegration(vendor, { id: `int_${i + 1}` })));
  bench.start();
  await bench.append(events(1));
  await until(() => receiver.requests.length >= 1_001);
  await bench.settled('int_1001');
  expect(receiver.requests).toHaveLength(1_001);
});
