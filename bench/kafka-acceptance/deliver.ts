/** The process that is killed: delivery over the log in a folder, to a Kafka. Sends a message when nothing waits any more. */
import kafka from '@firsthand/catalog/vendors/kafka/vendor.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import { eventsTopic } from '@firsthand/server/event-record.ts';
import { anIntegration, Bench, pause } from '@firsthand/server/roles/deliver/testing/bench.ts';
import { openLmdbLog } from '@firsthand/server/stores/event-log/lmdb.ts';

const [folder = '', brokers = ''] = process.argv.slice(2);
const compiled = compileVendor(kafka, { brokers, tls: 'disable', topic: 'events' }, { mode: 'development', allow_private: true });
if (!compiled.ok) throw new Error(JSON.stringify(compiled));
const bench = await Bench.open(() => openLmdbLog({ path: folder, dedupWindowMs: 3_600_000 }));
bench.snapshots.set([anIntegration(compiled.vendor)]);
bench.start();
while ((await bench.log.lag(eventsTopic('pl_1'), 'int_1')).waiting > 0) await pause(200);
process.send?.('done');
