/**
 * Starts a worker thread with low priority and with the compile cache on. Linux has priorities per thread: on a busy machine requests and
 * deliveries go before user code, rows, queries and files, and also before the code that such a thread loads. A TypeScript entry file would be
 * compiled before it could do either, and loading the compiler is a third of the cost of a short-lived thread.
 */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

const LOW = 10;

/** Source for `new Worker(…, { eval: true })`: loads the module and calls its export `start` with parent port and worker data. */
export function threadEntry(module: URL, priority = LOW): string {
  const cache = getCompileCacheDir();
  const enable = cache === undefined ? '' : `require('node:module').enableCompileCache(${JSON.stringify(dirname(cache))});`;
  // A process that was started with a lower one may not raise it.
  const yieldCore =
    process.platform === 'linux' ? `const os = require('node:os'); if (os.getPriority() < ${priority}) os.setPriority(${priority});` : '';
  return `${yieldCore} const threads = require('node:worker_threads'); ${enable} import(${JSON.stringify(module.href)}).then((module) => module.start(threads.parentPort, threads.workerData));`;
}
