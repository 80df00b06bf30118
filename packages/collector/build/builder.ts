/** Bundles the collector of one pipeline with only the features its configuration uses. The same input gives the same bytes. */

import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { type BuildInput, constantsOf } from './features.ts';
import { leaveOut } from './leave-out.ts';

export { type BuildInput, type ClientSideInput, CollectorConfigError } from './features.ts';
export { snippet } from './snippet.ts';

export interface CollectorBuild {
  code: string;
  /** Source map, as JSON text. */
  map: string;
  /** First 16 hex digits of the code's SHA-256. */
  version_hash: string;
  file_size_bytes: number;
  /** For the `integrity` attribute of a pinned script tag. */
  integrity: string;
}

const OUTPUT = {
  minify: true,
  target: 'es2020',
  // Ignores tsconfig.json: `strict` would add a directive that the code does not need.
  tsconfigRaw: '{}',
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'silent',
} as const;
/**
 * Chromium compiles every function on another thread during the download. Without the hint a new process compiles some 50
 * functions at their first call, 3 ms of the page's time. Other browsers ignore it.
 */
const COMPILE_HINT = '//# allFunctionsCalledOnLoad';
const ROOT = fileURLToPath(new URL('..', import.meta.url));
let running = 0;

export async function buildCollector(input: BuildInput): Promise<CollectorBuild> {
  const constants = constantsOf(input);
  const define = Object.fromEntries(Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value)]));
  // Loaded on first use: most processes never build, and esbuild's own process holds memory.
  const esbuild = await import('esbuild');
  // Loading it and starting its process take long enough for a turn of the event loop each.
  await setImmediate();
  running++;
  try {
    const bundle = await esbuild.build({
      ...OUTPUT,
      absWorkingDir: ROOT,
      entryPoints: ['src/main.ts'],
      outfile: 'd.js',
      bundle: true,
      format: 'iife',
      platform: 'browser',
      sourcemap: 'inline',
      write: false,
      treeShaking: true,
      define,
      plugins: [leaveOut(engineInput(input))],
    });
    // A second pass over the single file is smaller: it merges the declarations of all modules.
    const { code, map } = await esbuild.transform(bundle.outputFiles[0]!.text, {
      ...OUTPUT,
      loader: 'js',
      sourcemap: 'external',
      banner: COMPILE_HINT,
    });
    const bytes = Buffer.from(code);
    return {
      code,
      map,
      version_hash: createHash('sha256').update(bytes).digest('hex').slice(0, 16),
      file_size_bytes: bytes.length,
      integrity: `sha384-${createHash('sha384').update(bytes).digest('base64')}`,
    };
  } finally {
    // Otherwise esbuild's process would live as long as the server. Another build may still be using it.
    if (--running === 0) await esbuild.stop();
  }
}

/** The parts of config and definition that the engine runs, as text. A definition also describes fields that this config does not use. */
function engineInput({ client_side }: BuildInput): string {
  return JSON.stringify(
    client_side.map(({ config, definition }) => {
      const { requests, event_name, limits } = definition as Partial<VendorDefinition>;
      // A request may support a template; only the config says whether one is used.
      return [config, JSON.stringify([requests, event_name, limits]).replaceAll('template', '')];
    }),
  );
}
