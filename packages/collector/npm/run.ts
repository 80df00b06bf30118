import type { CollectorConstants } from '../build/constants.ts';

/**
 * A placeholder for the collector. `build.ts` replaces this module with src/main.ts, compiled so that its constants are read from the first
 * argument and the attributes of its script tag from the second.
 */
export function run(_constants: CollectorConstants, _option: (name: string) => string | undefined): void {
  throw new Error('The npm package is made by packages/collector/npm/build.ts.');
}
