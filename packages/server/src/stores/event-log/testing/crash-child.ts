/**
 * A child process for crash tests: appends and consumes until it is killed, and prints one line per acknowledged operation. `node
 * crash-child.ts <lmdb|jetstream> <path or url> <run>`
 */
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectNats, openJetStreamLog } from '../jetstream.ts';
import { openLmdbLog } from '../lmdb.ts';
import { type Append, type Delivery, type EventLog, LogUnavailable } from '../port.ts';

const [engine, place, run] = process.argv.slice(2) as [string, string, string];
const say = (line: string) => writeSync(1, `${line}\n`);
const log: EventLog =
  engine === 'lmdb'
    ? await openLmdbLog({ path: place, dedupWindowMs: 3_600_000 })
    : await openJetStreamLog({
        connection: await connectNats(place),
        dedupWindowMs: 600_000,
        replicas: 1,
        onWarning: (message) => say(`warning ${message}`),
      });

log.consume('events.crash', 'reader', { start: 'beginning', maxInFlight: 200, maxBatch: 20 }, async (batch) => {
  for (const delivery of batch) {
    const { id } = delivery.record;
    const copy = [{ topic: 'replay.crash', records: [{ id: `${id}/copy`, data: Buffer.from(id) }] }];
    // Some take the retry path.
    if (delivery.attempt === 1 && id.endsWith('0')) void delivery.retryIn(20, { from: run }).then(() => say(`retried ${id}`));
    else void settle(delivery, copy).then(() => say(`settled ${id}`));
  }
});

/** Retries a rejected operation unchanged. */
async function insist(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error;
      await sleep(50);
    }
  }
}
function append(id: string): Promise<void> {
  return insist(() => log.append([{ topic: 'events.crash', records: [{ id, data: Buffer.from(`body of ${id}`) }] }]));
}
/** Some settlements wait for the disk. */
function settle(delivery: Delivery, appends: Append[]): Promise<void> {
  return delivery.record.id.endsWith('2') ? delivery.ack(appends) : insist(() => log.ackAll([delivery], { appends }));
}

let counter = 0;
say('ready');
await Promise.all(
  Array.from({ length: 16 }, async () => {
    for (;;) {
      const id = `${run}-${counter++}`;
      await append(id);
      say(`appended ${id}`);
    }
  }),
);
