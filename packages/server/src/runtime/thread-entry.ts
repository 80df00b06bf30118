/**
 * How a thread begins. It has no compile cache unless it asks for one, and a TypeScript entry would be read before it could: without
 * the cache it carries the compiler, which is a third of what a short-lived thread costs.
 */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Source for `new Worker(…, { eval: true })` that loads this module. */
export function threadEntry(module: URL): string {
  const cache = getCompileCacheDir();
  const enable = cache === undefined ? '' : `require('node:module').enableCompileCache(${JSON.stringify(dirname(cache))});`;
  return `${enable} import(${JSON.stringify(module.href)});`;
}
