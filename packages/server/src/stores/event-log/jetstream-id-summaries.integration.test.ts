// @module-tag nats-server
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startNats, type TestServer } from '../../../test/servers/index.ts';
import { fresh, record, records, until } from './conformance/kit.ts';
import { JetStreamApi } from './jetstream/api.ts';
import { ID_STREAM, idSubject, Layout } from './jetstream/names.ts';
import { Publisher } from './jetstream/publisher.ts';
import { encodeBatch, packRecord } from './jetstream/record-batch.ts';
import { connectNats, openJetStreamLog } from './jetstream.ts';

const MESSAGES = 2_500;
let server: TestServer;
let connection: NatsConnection;
let api: JetStreamApi;
let publisher: Publisher;
beforeAll(async () => {
  server = await startNats();
  connection = await connectNats(server.url);
  api = new JetStreamApi(connection, 10_000);
  publisher = new Publisher(connection, 10_000, () => {});
});
afterAll(async () => {
  publisher.close();
  await connection.close();
  await server.stop();
});

/** As another process would that does not know the ids: nothing is deduplicated before it is stored. */
async function store(topic: string, from: number, to: number): Promise<void> {
  const { subject } = new Layout(3).placeOf(topic);
  const stored: Promise<unknown>[] = [];
  for (let i = from; i < to; i++) {
    const { data, headers } = encodeBatch([packRecord(record(`${topic}/${i}`))], 1_048_576);
    stored.push(publisher.publish(subject, data, headers));
  }
  await Promise.all(stored);
}

/** A process that reads the topic. `headers`: how many messages it has read without their bodies. */
async function reader(topic: string, group = 'g') {
  const own = await connectNats(server.url);
  let headers = 0;
  const subscribe = own.subscribe.bind(own);
  own.subscribe = (subject, options) => {
    const callback = options?.callback;
    if (!callback) return subscribe(subject, options);
    return subscribe(subject, {
      ...options,
      callback: (error, msg) => {
        if (msg.reply?.startsWith('$JS.ACK.') && msg.data.length === 0 && msg.headers?.has('Fh-Ids')) headers++;
        callback(error, msg);
      },
    });
  };
  const log = await openJetStreamLog({ connection: own, dedupWindowMs: 600_000, replicas: 1 });
  const seen: string[] = [];
  log.consume(topic, group, { start: 'beginning', maxInFlight: 1_000, maxBatch: 500, ordered: true }, async (batch) => {
    seen.push(...batch.map((delivery) => delivery.record.id));
    await log.ackAll(batch);
  });
  const stop = async () => {
    await log.close();
    await own.close();
  };
  onTestFinished(stop);
  await until(async () => (await log.groups(topic)).includes(group));
  // The group is listed before its stream is there; this waits for the stream.
  await log.lag(topic, group);
  return {
    seen,
    stop,
    get headers() {
      return headers;
    },
  };
}
async function summariesOf(topic: string): Promise<number> {
  const info = await api.streamInfo(ID_STREAM, { subjects_filter: idSubject(topic) }).catch(() => undefined);
  return info?.state.subjects?.[idSubject(topic)] ?? 0;
}
/** A topic that was read by a process that has ended. */
async function readTopic(): Promise<string> {
  const topic = fresh('ingest');
  const owner = await reader(topic);
  // What is stored while the reader opens has no summary. It is open when it reads.
  await store(topic, 0, 1);
  await until(() => owner.seen.length === 1);
  await store(topic, 1, MESSAGES);
  await until(async () => owner.seen.length === MESSAGES && (await summariesOf(topic)) >= 2);
  await owner.stop();
  return topic;
}
/** Repeats of the first, middle and last messages of the topic, and a new one behind them. */
async function expectRepeatsDropped(topic: string, seen: readonly string[]): Promise<void> {
  for (const i of [0, 1_234, MESSAGES - 1, MESSAGES]) await store(topic, i, i + 1);
  await until(() => seen.includes(`${topic}/${MESSAGES}`));
  expect(seen).toEqual([`${topic}/${MESSAGES}`]);
}

test('the process that takes a topic over knows its ids from summaries, and reads the headers behind them only', async () => {
  const topic = await readTopic();
  const heir = await reader(topic);
  await expectRepeatsDropped(topic, heir.seen);
  expect(heir.headers).toBeLessThan(MESSAGES / 2);
});

test('without summaries the headers are read', async () => {
  const topic = await readTopic();
  await api.call(`STREAM.PURGE.${ID_STREAM}`, { filter: idSubject(topic) });
  const heir = await reader(topic);
  await expectRepeatsDropped(topic, heir.seen);
  expect(heir.headers).toBeGreaterThan(MESSAGES / 2);
});

test('a gap between summaries, and one that cannot be read, are filled from the messages', async () => {
  const topic = await readTopic();
  const stored = await api.call<{ message: { seq: number } }>(`STREAM.MSG.GET.${ID_STREAM}`, { seq: 1, next_by_subj: idSubject(topic) });
  await api.call(`STREAM.MSG.DELETE.${ID_STREAM}`, { seq: stored.message.seq, no_erase: true });
  await publisher.publish(idSubject(topic), Buffer.from('torn'), undefined);
  const heir = await reader(topic);
  await expectRepeatsDropped(topic, heir.seen);
  expect(heir.headers).toBeLessThan(MESSAGES);
});

test('summaries of a stream that was deleted and created again do not count', async () => {
  const topic = await readTopic();
  const { stream } = new Layout(3).placeOf(topic);
  await api.call(`STREAM.DELETE.${stream}`);
  // The stream exists again, and its sequences begin at 1.
  const before = await reader(topic, 'another');
  await store(topic, 5_000, 5_000 + MESSAGES);
  await until(() => before.seen.length === MESSAGES);
  await before.stop();
  const heir = await reader(topic, 'late');
  await until(() => heir.seen.length === MESSAGES);
  await store(topic, 5_001, 5_002);
  // Known from the summaries of the deleted stream, if they counted.
  await store(topic, 0, 1);
  await until(() => heir.seen.length > MESSAGES);
  expect(heir.seen.slice(MESSAGES)).toEqual([`${topic}/0`]);
});

test('a busy topic that its reader has left is taken over without a scan of headers (a handover took 1.06 s)', async () => {
  const topic = await readTopic();
  const own = await connectNats(server.url);
  const scans: string[] = [];
  const request = own.request.bind(own);
  own.request = (subject, payload, options) => {
    if (subject.startsWith('$JS.API.CONSUMER.CREATE.') && String(payload).includes('headers_only')) scans.push(String(payload));
    return request(subject, payload, options);
  };
  const log = await openJetStreamLog({ connection: own, dedupWindowMs: 600_000, replicas: 1 });
  onTestFinished(async () => {
    await log.close();
    await own.close();
  });
  await log.prepare?.(['events']);
  expect(scans.length).toBeGreaterThan(0);
  scans.length = 0;
  const seen: string[] = [];
  log.consume(topic, 'g', { start: 'beginning', maxInFlight: 1_000, maxBatch: 500, ordered: true }, async (batch) => {
    seen.push(...batch.map((delivery) => delivery.record.id));
    await log.ackAll(batch);
  });
  await expectRepeatsDropped(topic, seen);
  await log.append([{ topic: fresh('events'), records: records(topic, 1) }]);
  expect(scans).toEqual([]);
});

test('many topics with a few events each are taken over without a consumer for each (5,000 groups took 19 s)', async () => {
  const topics = Array.from({ length: 100 }, () => fresh('events'));
  const before = await openJetStreamLog({ connection, dedupWindowMs: 600_000, replicas: 1 });
  await before.append(topics.map((topic) => ({ topic, records: records(topic, 3) })));
  await before.close();
  const own = await connectNats(server.url);
  let scans = 0;
  const request = own.request.bind(own);
  own.request = (subject, payload, options) => {
    if (subject.startsWith('$JS.API.CONSUMER.CREATE.') && String(payload).includes('headers_only')) scans++;
    return request(subject, payload, options);
  };
  const log = await openJetStreamLog({ connection: own, dedupWindowMs: 600_000, replicas: 1 });
  onTestFinished(async () => {
    await log.close();
    await own.close();
  });
  const seen: string[] = [];
  for (const topic of topics)
    log.consume(topic, 'g', { start: 'beginning', maxInFlight: 100, maxBatch: 10 }, async (batch) => {
      seen.push(...batch.map(({ record }) => record.id));
      await log.ackAll(batch);
    });
  await until(() => seen.length === 300);
  for (const topic of topics) await store(topic, 2, 4);
  await until(() => seen.length >= 400);
  expect(new Set(seen).size).toBe(400);
  expect(scans).toBe(0);
});
