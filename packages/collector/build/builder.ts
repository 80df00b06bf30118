/** Bundles the collector of one pipeline: exactly the features its configuration uses. The same input gives the same bytes. */

import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { type BuildInput, constantsOf } from './features.ts';
import { leaveOut } from './leave-out.ts';

export { type BuildInput, type ClientSideInput, CollectorConfigError } from './features.ts';
export { type SnippetInput, scriptAddress, snippet } from './snippet.ts';

export interface CollectorBuild {
  code: string;
  /** Source map, as JSON text. */
  map: string;
  /** First 16 hexadecimal digits of the code's SHA-256. */
  version_hash: string;
  file_size_bytes: number;
  /** For the `integrity` attribute of a pinned script tag. */
  integrity: string;
}

const OUTPUT = {
  minify: true,
  target: 'es2020',
  // Of the compiler options only `strict` would matter, which adds a directive that the code does not need.
  tsconfigRaw: '{}',
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'silent',
} as const;
/**
 * Chromium then compiles every function while the file still comes in, on another thread; else the page waits for each of them at
 * its first call, some 50 times and 3 ms in a process that has not run the file before. To other browsers it is a comment.
 */
const COMPILE_HINT = '//# allFunctionsCalledOnLoad';
const ROOT = fileURLToPath(new URL('..', import.meta.url));
let running = 0;

export async function buildCollector(input: BuildInput): Promise<CollectorBuild> {
  const constants = constantsOf(input);
  const define = Object.fromEntries(Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value)]));
  // Loaded only now: most processes never build, and esbuild's own process holds memory while it lives.
  const esbuild = await import('esbuild');
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
    // Only as one file is it as small as it gets: the declarations of all modules become one.
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
    // The service process would otherwise stay for the life of the server; another build may still be using it.
    if (--running === 0) await esbuild.stop();
  }
}

/** Definitions describe every field a vendor knows; only what this configuration says, and how requests are made, is run. */
function engineInput({ client_side }: BuildInput): string {
  return JSON.stringify(
    client_side.map(({ config, definition }) => {
      const { requests, event_name, limits } = definition as Partial<VendorDefinition>;
      // A request may offer a template; whether there is one is for the config to say.
      return [config, JSON.stringify([requests, event_name, limits]).replaceAll('template', '')];
    }),
  );
}
