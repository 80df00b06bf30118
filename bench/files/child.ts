/** One process of the benchmark. Reports how long it took and how long it held the event loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import amazonS3 from '@firsthand/catalog/vendors/amazon_s3/vendor.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import { eventsTopic } from '@firsthand/server/event-record.ts';
import { anIntegration, Bench } from '@firsthand/server/roles/deliver/testing/bench.ts';
import { openLmdbLog } from '@firsthand/server/stores/event-log/lmdb.ts';
import { openS3 } from '@firsthand/server/transports/files/s3.ts';
import { driverOptions } from './driver-options.ts';
import { ACCOUNT, type FilesTask, PER_FILE, typicalEvent } from './task.ts';

const task = JSON.parse(process.argv[2] ?? '') as FilesTask;
const began = performance.now();
const delay = monitorEventLoopDelay({ resolution: 5 });

if (task.role === 'fill') await fill();
else if (task.role === 'plain') await plain();
else await deliver();
process.send?.({ seconds: (performance.now() - began) / 1_000, stall_ms: delay.max / 1e6 });
process.exit(0);

function open(): Promise<Bench> {
  return Bench.open(() => openLmdbLog({ path: task.path, dedupWindowMs: 60_000 }));
}

async function fill(): Promise<void> {
  const bench = await open();
  for (let from = 0; from < task.events; from += 1_000)
    await bench.append(Array.from({ length: Math.min(1_000, task.events - from) }, (_, i) => typicalEvent(from + i)));
  await bench.log.close();
}

async function plain(): Promise<void> {
  const { connection } = vendorOf().transport ?? {};
  if (!connection) throw new Error('amazon_s3 has no driver');
  const transport = openS3(connection, driverOptions());
  let next = 0;
  const write = async () => {
    while (next < task.events) {
      const from = next;
      next += PER_FILE;
      const events = Array.from({ length: Math.min(PER_FILE, task.events - from) }, (_, i) => typicalEvent(from + i));
      const records = events.map((event) => ({
        event_id: event.event_id,
        target: 'plain/',
        values: { ...event },
        event,
        received_at: 0,
        json: JSON.stringify(event),
      }));
      const verdict = await transport.send(records, { timeout_ms: 60_000 });
      if (verdict.kind !== 'delivered') throw new Error(JSON.stringify(verdict));
    }
  };
  await Promise.all(Array.from({ length: 2 }, write));
  await transport.close();
}

async function deliver(): Promise<void> {
  const bench = await open();
  const id = task.group ?? '';
  bench.snapshots.set([anIntegration(vendorOf(), { id })]);
  delay.enable();
  bench.start();
  while ((await bench.log.lag(eventsTopic('pl_1'), id)).waiting > 0 || !(await started(bench, id)))
    await new Promise((resolve) => setTimeout(resolve, 20));
  delay.disable();
  await bench.deliver.stop();
  await bench.log.close();
}
/** Before its consumer starts, a group has no backlog. */
async function started(bench: Bench, id: string): Promise<boolean> {
  return (await bench.log.groups(eventsTopic('pl_1'))).includes(id);
}

function vendorOf(): CompiledVendor {
  const config = {
    ...ACCOUNT,
    endpoint: task.url,
    format: task.format,
    compression: task.format === 'ndjson' ? 'gzip' : 'snappy',
    prefix: 'bench/',
    path: '{date}',
    batch_interval_ms: 2_000,
    rate_limit_rps: 10_000,
  };
  const result = compileVendor(amazonS3, config, { mode: 'development', allow_private: true });
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.vendor;
}
