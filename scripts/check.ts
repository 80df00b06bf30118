/** The quick gate: lint and format, types of every package, import boundaries, stale generated files, OpenAPI rules, links, unit tests. */
import { step } from './run.ts';

await step('format and lint', 'biome', ['ci', '--log-level=warn', '.']);
for (const project of [
  'packages/core',
  'packages/catalog',
  'packages/collector',
  'packages/collector/build',
  'packages/console',
  'packages/cli', // includes packages/server
  '.',
])
  await step(`types: ${project}`, 'tsc', ['-p', `${project}/tsconfig.json`]);
await step('import boundaries', 'node', ['scripts/check-boundaries.ts']);
for (const script of ['scripts/generate-vendor-list.ts', 'scripts/generate-docs.ts', 'scripts/generate-api-client.ts'])
  await step(`fresh: ${script}`, 'node', [script, '--check']);
await step('OpenAPI rules of Redocly and Spectral', 'node', ['scripts/lint-api.ts']);
await step('links between Markdown files', 'node', ['scripts/check-links.ts']);
await step('unit tests', 'vitest', ['run', '--project', 'unit']);
