/**
 * How a thread begins. It has no compile cache unless it asks for one, and a TypeScript entry would be read before it could: without
 * the cache it carries the compiler, which is a third of what a short-lived thread costs.
 */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Source for `new Worker(…, { eval: true })` that loads this module, and calls what it exports under `start` with port and data. */
export function threadEntry(module: URL, start?: string): string {
  const cache = getCompileCacheDir();
  const enable = cache === undefined ? '' : `require('node:module').enableCompileCache(${JSON.stringify(dirname(cache))});`;
  const call = start === undefined ? '' : `.then((module) => module.${start}(threads.parentPort, threads.workerData))`;
  return `const threads = require('node:worker_threads'); ${enable} import(${JSON.stringify(module.href)})${call};`;
}
