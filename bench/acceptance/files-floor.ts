/** The floor of file targets, in its own process: the driver writes the same rows by itself, two files at a time. Sends its times. */
import amazonS3 from '@firsthand/catalog/vendors/amazon_s3/vendor.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { openS3 } from '@firsthand/server/transports/files/s3.ts';
import { driverOptions } from './driver-options.ts';
import { PER_FILE, type s3Config } from './s3-config.ts';
import { shopEvent } from './shop-event.ts';

export interface FloorTask {
  config: ReturnType<typeof s3Config>;
  events: number;
}
export interface FloorTimes {
  seconds: number;
  cpu_seconds: number;
}
const FILES_AT_ONCE = 2;

const { config, events } = JSON.parse(process.argv[2] ?? '') as FloorTask;
const compiled = compileVendor(amazonS3, config, { mode: 'development', allow_private: true });
if (!compiled.ok || !compiled.vendor.transport) throw new Error(JSON.stringify(compiled));
const transport = openS3(compiled.vendor.transport.connection, driverOptions());
// Without the making of the records.
let ms = 0;
let cpuMicros = 0;
for (let from = 0; from < events; from += FILES_AT_ONCE * PER_FILE) {
  const files = Array.from({ length: FILES_AT_ONCE }, (_, i) => from + i * PER_FILE)
    .filter((start) => start < events)
    .map((start) => Array.from({ length: Math.min(PER_FILE, events - start) }, (_, i) => recordOf(shopEvent(start + i))));
  const began = performance.now();
  const cpu = process.cpuUsage();
  for (const verdict of await Promise.all(files.map((records) => transport.send(records, { timeout_ms: 60_000 }))))
    if (verdict.kind !== 'delivered') throw new Error(JSON.stringify(verdict));
  ms += performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  cpuMicros += user + system;
}
process.send?.({ seconds: ms / 1_000, cpu_seconds: cpuMicros / 1e6 } satisfies FloorTimes);
process.exit(0);

function recordOf(event: CanonicalEvent): TransportRecord {
  const json = Buffer.from(JSON.stringify(event));
  return { event_id: event.event_id, target: 'floor/', values: { ...event }, event, received_at: 0, json };
}
