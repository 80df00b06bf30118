/** An application that bundles the npm package and calls `init`. It replaces the pipeline's script, so that the same tests run on both. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pipeline } from '@firsthand/core/config/resources.ts';
import { build } from 'esbuild';
import { buildNpmPackage } from '../npm/build.ts';

let made: Promise<string> | undefined;

async function npmPackage(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-npm-'));
  await buildNpmPackage(folder);
  return folder;
}

/** The options come from the attributes of the script tag, as the tests set them. */
export async function bundledApp(pipeline: Pipeline): Promise<{ code: string }> {
  made ??= npmPackage();
  const { js_builder_config: js, identity_config: identity } = pipeline;
  const config = {
    global_variable: js.global_variable,
    consent_config: js.consent_config,
    vendor_syncs: { ...identity.vendor_sync, ...js.vendor_syncs },
    variables: js.variables ?? [],
    cross_domain_domains: js.cross_domain || identity.cross_domain_enabled ? identity.cross_domain_domains : [],
  };
  const app = `import { init } from './index.js';
    const script = document.currentScript;
    init({
      pipelineKey: script.dataset.pipelineKey,
      ingestUrl: script.dataset.ingestUrl || new URL(script.src).origin,
      autoPage: script.dataset.autoPage !== 'false',
      waitMs: script.dataset.waitMs,
      challengeToken: () => script.dataset.challengeToken,
      config: ${JSON.stringify(config)},
    });`;
  const result = await build({
    stdin: { contents: app, resolveDir: await made, loader: 'js' },
    bundle: true,
    minify: true,
    format: 'iife',
    write: false,
    logLevel: 'silent',
  });
  return { code: result.outputFiles[0]?.text ?? '' };
}
