/**
 * After an install: compiles the service's sources into the cache that `firsthand` uses, so that the first start is as quick as the next.
 * Drivers and vendors, which load on demand, too: compiling one while events arrive would hold them up for up to half a second.
 */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/firsthand'));
await import('../packages/cli/src/main.ts');
await import('../packages/cli/src/commands/start.ts');
await import('../packages/server/src/main.ts');
await Promise.all([
  import('../packages/server/src/roles/ingest/start.ts'),
  import('../packages/server/src/roles/process/start.ts'),
  import('../packages/server/src/roles/deliver/start.ts'),
  import('../packages/server/src/outcomes/row-writer-thread.ts'),
  import('../packages/server/src/stores/event-log/lmdb.ts'),
  import('../packages/server/src/stores/observe/sqlite-writer.ts'),
  import('../packages/server/src/stores/visitors/lmdb.ts'),
  import('../packages/server/src/stores/leases/embedded.ts'),
  import('../packages/server/src/stores/ephemeral/in-process.ts'),
]);
const { DRIVERS } = await import('../packages/server/src/transports/drivers.ts');
const { CONSUMERS } = await import('../packages/server/src/transports/consumers/drivers.ts');
const { loadVendors } = await import('../packages/catalog/src/index.ts');
await Promise.all([...Object.values(DRIVERS), ...Object.values(CONSUMERS)].map((load) => load()));
await Promise.all([
  import('../packages/server/src/transports/files/parquet.ts'),
  import('../packages/server/src/transports/files/csv.ts'),
  import('../packages/server/src/telemetry/start.ts'),
  loadVendors(),
]);
flushCompileCache();
process.exit(0);
