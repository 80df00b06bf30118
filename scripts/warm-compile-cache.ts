/** After an install: compiles the service's sources into the cache that `firsthand` uses, so that the first start is as quick as the next. */
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
flushCompileCache();
process.exit(0);
