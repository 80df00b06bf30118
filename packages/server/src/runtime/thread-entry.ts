/**
 * Starts a worker thread with the compile cache on. A TypeScript entry file would be compiled before it could enable the cache, and
 * loading the compiler is a third of the cost of a short-lived thread.
 */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Source for `new Worker(…, { eval: true })`: loads the module and calls its export named `start` with parent port and worker data. */
export function threadEntry(module: URL, start?: string): string {
  const cache = getCompileCacheDir();
  const enable = cache === undefined ? '' : `require('node:module').enableCompileCache(${JSON.stringify(dirname(cache))});`;
  const call = start === undefined ? '' : `.then((module) => module.${start}(threads.parentPort, threads.workerData))`;
  return `const threads = require('node:worker_threads'); ${enable} import(${JSON.stringify(module.href)})${call};`;
}
