/**
 * The process that is measured and killed: delivers the backlog in a folder with one integration or several. Reports when nothing waits any more.
 * `DELIVER_PROFILE` names a folder for a CPU profile of the delivery alone.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadVendor } from '@firsthand/catalog/index.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import { eventsTopic } from '../../../event-record.ts';
import { privateKeys } from '../../../runtime/private-keys.ts';
import { openLmdbLog } from '../../../stores/event-log/lmdb.ts';
import { PIPELINE } from './backlog.ts';
import { anIntegration, Bench } from './bench.ts';
import type { Delivered, DeliveredIntegration, DeliverTask } from './deliverer.ts';

const { folder, others = [], ...first } = JSON.parse(process.argv[2] ?? '') as DeliverTask;
const { vendor, group } = first;
const groups = [first, ...others].map((one) => one.group);

const bench = await Bench.open(() => openLmdbLog({ path: folder, dedupWindowMs: 60_000 }));
bench.snapshots.set(await Promise.all([first, ...others].map(integrationOf)));
const profiler = process.env.DELIVER_PROFILE === undefined ? undefined : new Session();
profiler?.connect();
await profiler?.post('Profiler.enable');
await profiler?.post('Profiler.start');
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const cpu = process.cpuUsage();
const began = performance.now();
bench.start();
for (const one of groups) {
  while (!(await bench.log.groups(eventsTopic(PIPELINE))).includes(one)) await pause();
  while ((await bench.log.lag(eventsTopic(PIPELINE), one)).waiting > 0) await pause();
}
const { user, system } = process.cpuUsage(cpu);
const delivered: Delivered = {
  seconds: (performance.now() - began) / 1_000,
  cpu_seconds: (user + system) / 1e6,
  stall_ms: delay.max / 1e6,
};
if (profiler) {
  const { profile } = await profiler.post('Profiler.stop');
  writeFileSync(`${process.env.DELIVER_PROFILE}/${vendor}-${group}.cpuprofile`, JSON.stringify(profile));
}
process.send?.(delivered);
await bench.deliver.stop();
await bench.log.close();
process.exit(0);

async function integrationOf({ vendor, config, connection, group }: DeliveredIntegration) {
  const definition = await loadVendor(vendor);
  if (!definition) throw new Error(`there is no vendor ${vendor}`);
  const compiled = compileVendor(definition, config, { mode: 'development', allow_private: true, keys: privateKeys });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled));
  const { transport } = compiled.vendor;
  const driver = transport && { transport: { ...transport, connection: { ...transport.connection, ...connection } } };
  return anIntegration({ ...compiled.vendor, ...driver }, { id: group });
}
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
