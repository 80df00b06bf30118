/** The process that is killed: delivery over the log in a folder, to a PostgreSQL. Sends a message when nothing waits any more. */
import postgresql from '@firsthand/catalog/vendors/postgresql/vendor.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import { eventsTopic } from '@firsthand/server/event-record.ts';
import { anIntegration, Bench, pause } from '@firsthand/server/roles/deliver/testing/bench.ts';
import { openLmdbLog } from '@firsthand/server/stores/event-log/lmdb.ts';

const [folder = '', url = ''] = process.argv.slice(2);
const config = { url, tls: 'disable', rate_limit_rps: 1_000, rate_limit_burst: 1_000 };
const result = compileVendor(postgresql, config, { mode: 'development', allow_private: true });
if (!result.ok) throw new Error(JSON.stringify(result));
const bench = await Bench.open(() => openLmdbLog({ path: folder, dedupWindowMs: 3_600_000 }));
bench.snapshots.set([anIntegration(result.vendor)]);
bench.start();
while ((await bench.log.lag(eventsTopic('pl_1'), 'int_1')).waiting > 0) await pause(200);
process.send?.('done');
