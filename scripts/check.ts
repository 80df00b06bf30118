/** The quick gate: lint and format, types of every package, import boundaries, stale generated files, OpenAPI rules, links, unit tests. */
import { ensureNatsServer } from './nats-server.ts';
import { inLanes, type Step } from './run.ts';

const node = (title: string, ...args: string[]): Step => ({ title, command: 'node', args });
/** Go's default, 100, collects garbage so often that it takes a quarter of the compiler's processor time. */
const GC = { GOGC: process.env.GOGC ?? '400' };
const types = (project: string): Step => ({
  title: `types: ${project}`,
  command: 'tsc',
  args: ['-p', `${project}/tsconfig.json`],
  env: GC,
});
const fresh = (script: string): Step => node(`fresh: ${script}`, script, '--check');

ensureNatsServer();
await inLanes(
  [{ title: 'unit tests', command: 'vitest', args: ['run', '--project', 'unit'] }],
  [
    { title: 'format and lint', command: 'biome', args: ['ci', '--log-level=warn', '.'] },
    types('packages/core'),
    types('packages/catalog'),
    types('packages/collector'),
    types('packages/collector/build'),
    types('packages/console'),
    types('packages/cli'), // includes packages/server
    types('.'),
    node('import boundaries', 'scripts/check-boundaries.ts'),
    fresh('scripts/generate-vendor-list.ts'),
    fresh('scripts/generate-docs.ts'),
    fresh('scripts/generate-api-client.ts'),
    node('OpenAPI rules of Redocly and Spectral', 'scripts/lint-api.ts'),
    node('links between Markdown files', 'scripts/check-links.ts'),
    { title: 'unit tests that need a process of their own', command: 'vitest', args: ['run', '--project', 'process'] },
  ],
);
