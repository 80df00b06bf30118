/** Throughput of each log engine: `node bench/event-log.ts [lmdb|jetstream] [seconds]`. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { connectNats, openJetStreamLog } from '@firsthand/server/stores/event-log/jetstream.ts';
import { openLmdbLog } from '@firsthand/server/stores/event-log/lmdb.ts';
import type { Consumer, EventLog } from '@firsthand/server/stores/event-log/port.ts';
import { startNats } from '../packages/server/test/servers/index.ts';

const engines = process.argv[2] ? [process.argv[2]] : ['lmdb', 'jetstream'];
const seconds = Number(process.argv[3] ?? 3);
const PARTITIONS = 16;
const DATA = Buffer.alloc(600, 'x');

for (const engine of engines) {
  if (engine === 'lmdb') {
    const path = mkdtempSync(join(tmpdir(), 'firsthand-bench-'));
    const log = await openLmdbLog({ path, dedupWindowMs: 86_400_000 });
    await measure('lmdb', log);
    await log.close();
    rmSync(path, { recursive: true });
  } else {
    const server = await startNats();
    const connection = await connectNats(server.url);
    const log = await openJetStreamLog({ connection, dedupWindowMs: 600_000, replicas: 1 });
    await measure('jetstream', log);
    await log.close();
    await connection.close();
    await server.stop();
  }
}

async function measure(engine: string, log: EventLog): Promise<void> {
  // CPU time, not elapsed time: it barely changes on a busy machine.
  const report = (what: string, count: number, ms: number, main: number, all: number) => {
    const rate = Math.round((count / ms) * 1_000).toLocaleString('en');
    const cost = `${(main / count).toFixed(1)} µs of the main thread, ${(all / count).toFixed(1)} of the process each`;
    console.log(`${engine.padEnd(10)} ${what.padEnd(52)} ${rate.padStart(9)}/s   ${cost}`);
  };
  let counter = 0;
  const next = () => ({
    id: `pl_0123456789abcdefghjkmnpqrs/7c9e6679-7425-40de-944b-${(counter++).toString(16).padStart(12, '0')}`,
    data: DATA,
  });

  for (const inFlight of [1, 64, 512]) {
    const end = performance.now() + seconds * 1_000;
    let count = 0;
    await timed(`append, ${inFlight} in flight`, async () => {
      await Promise.all(
        Array.from({ length: inFlight }, async () => {
          while (performance.now() < end) {
            await log.append([{ topic: `ingest.${count % PARTITIONS}`, records: [next()] }]);
            count++;
          }
        }),
      );
      return count;
    });
  }

  await timed('read 1 topic from disk', async () => {
    let count = 0;
    for await (const _ of log.read('ingest.0', { limit: 50_000 })) count++;
    return count;
  });

  await timed('consume and acknowledge what is on disk', async () => {
    let count = 0;
    const total = Math.min(100_000, counter);
    const consumers: Consumer[] = [];
    await new Promise<void>((resolve) => {
      for (let partition = 0; partition < PARTITIONS; partition++)
        consumers.push(
          log.consume(`ingest.${partition}`, 'bench', { start: 'beginning', maxInFlight: 2_000, maxBatch: 200 }, async (batch) => {
            for (const delivery of batch) void delivery.ack().then(() => ++count >= total && resolve());
          }),
        );
    });
    await Promise.all(consumers.map((consumer) => consumer.stop()));
    return count;
  });

  await timed('append with a consumer that keeps up, 64 in flight', async () => {
    const until = performance.now() + seconds * 1_000;
    let appended = 0;
    let settled = 0;
    log.consume('events.live', 'bench', { start: new Date(), maxInFlight: 2_000, maxBatch: 200 }, async (batch) => {
      for (const delivery of batch) void delivery.ack().then(() => settled++);
    });
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        while (performance.now() < until) {
          await log.append([{ topic: 'events.live', records: [next()] }]);
          appended++;
        }
      }),
    );
    while (settled < appended * 0.99) await new Promise((resolve) => setTimeout(resolve, 10));
    return appended;
  });
  console.log(`${engine.padEnd(10)} memory: ${JSON.stringify(mebibytes())} MiB`);

  async function timed(what: string, work: () => Promise<number>): Promise<void> {
    const thread = process.threadCpuUsage();
    const whole = process.cpuUsage();
    const start = performance.now();
    const count = await work();
    const main = process.threadCpuUsage(thread);
    const all = process.cpuUsage(whole);
    report(what, count, performance.now() - start, main.user + main.system, all.user + all.system);
  }
}

function mebibytes(): Record<string, number> {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return Object.fromEntries(
    Object.entries({ heapUsed, external, arrayBuffers }).map(([name, bytes]) => [name, Math.round(bytes / 1_048_576)]),
  );
}
