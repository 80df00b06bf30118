/**
 * Three replicated servers, restarted one after the other while records flow.
 *
 * @module-tag nats-server
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startNatsCluster } from '../../../test/servers/index.ts';
import { record, until } from './conformance/kit.ts';
import { connectNats, openJetStreamLog } from './jetstream.ts';
import { LogUnavailable } from './port.ts';

/** Just after a restart the brokers may still choose their leader: ask again. */
function whileUnavailable(error: unknown): undefined {
  if (!(error instanceof LogUnavailable)) throw error;
}

test('a rolling restart of the brokers loses nothing and keeps every partition in order', async () => {
  const cluster = await startNatsCluster(3);
  const connection = await connectNats(cluster.url);
  const log = await openJetStreamLog({ connection, dedupWindowMs: 600_000, replicas: 3 });
  onTestFinished(async () => {
    await log.close();
    await connection.close();
    await cluster.stop();
  });
  const topics = ['ingest.0', 'ingest.1', 'ingest.2'];
  const sent = new Map<string, number>();
  const got = new Map<string, string[]>(topics.map((topic) => [topic, []]));
  let running = true;
  /** As a processor does: reads a partition in order, and appends what it has processed before it settles. */
  for (const topic of topics)
    log.consume(topic, 'process', { start: 'beginning', maxInFlight: 100, maxBatch: 20, ordered: true }, async (batch) => {
      const records = batch.map(({ record: one }) => ({ id: `${one.id}/done`, data: one.data }));
      await log.ackAll(batch, { appends: [{ topic: topic.replace('ingest', 'events'), records }] });
      got.get(topic)?.push(...batch.map(({ record: one }) => one.id));
    });
  const senders = topics.map(async (topic) => {
    for (let i = 0; running; i++) {
      const one = record(`${topic}/${i}`);
      // A client repeats what was refused before it sends the next one.
      while (
        await log.append([{ topic, records: [one] }]).then(
          () => false,
          () => true,
        )
      )
        await sleep(20);
      sent.set(topic, i + 1);
    }
  });
  await until(() => topics.every((topic) => (got.get(topic)?.length ?? 0) > 50));
  for (const node of cluster.nodes) {
    const before = topics.map((topic) => got.get(topic)?.length ?? 0);
    await node.restart();
    await until(() => topics.every((topic, i) => (got.get(topic)?.length ?? 0) > (before[i] ?? 0) + 50));
  }
  running = false;
  await Promise.all(senders);
  await until(async () => {
    const lags = await Promise.all(topics.map((topic) => log.lag(topic, 'process'))).catch(whileUnavailable);
    return lags?.every(({ waiting }) => waiting === 0) ?? false;
  });
  for (const topic of topics) {
    const expected = Array.from({ length: sent.get(topic) ?? 0 }, (_, i) => `${topic}/${i}/done`);
    const events = topic.replace('ingest', 'events');
    const processed: string[] = [];
    // A reader drops repeats. The topic may have some: who lost its partition for a while continues at a cursor of up to a second ago.
    log.consume(events, 'deliver', { start: 'beginning', maxInFlight: 1_000, maxBatch: 500, ordered: true }, async (batch) => {
      processed.push(...batch.map(({ record: one }) => one.id));
      await log.ackAll(batch);
    });
    // What belongs to a settlement reaches its own topic a moment after it.
    await until(async () => {
      const lag = await log.lag(events, 'deliver').catch(whileUnavailable);
      return processed.length >= expected.length && lag?.waiting === 0;
    });
    expect(processed).toEqual(expected);
  }
}, 120_000);
