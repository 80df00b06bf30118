import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { missingServers, SERVER_NAMES } from './packages/server/test/servers/find.ts';
import { LeftOut } from './scripts/left-out.ts';
import { LongestFirst } from './scripts/longest-first.ts';

/**
 * Time limits end a test that hangs; no assertion depends on them. Each is several times what the slowest test of its kind needs on a busy
 * two-core machine. Polling ends well before, so that a failure names what it waited for. A failed test is not retried: fix a flaky test.
 */
const runs = (seconds: number) => ({
  testTimeout: seconds * 1_000,
  hookTimeout: seconds * 1_000,
  expect: { poll: { timeout: 90_000, interval: 20 } },
  // Node runs these files without a transform. Tests import them the same way, which saves a third of the processor time of a run.
  experimental: { viteModuleRunner: false },
});

// Worker processes inherit it: each test file has its own process, and most of them load the same modules.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled-tests', import.meta.url));

/** Stories that end at the HTTP edge or at the command line: the stores make no difference, so they run once. */
const EMBEDDED_ONLY = ['e2e/{attack,backup,npm-start,typed-client,vendors,live-debug}.e2e.ts', 'e2e/sdks/**'];

const missing = missingServers();

// One project per kind of test, so that `vitest run --project unit` is quick and the others say plainly what they need.
export default defineConfig({
  test: {
    // Most suites wait for servers, disks and clocks as long as they compute: a third worker uses the idle time of two cores.
    maxWorkers: 3,
    reporters: ['default', new LeftOut()],
    sequence: { sequencer: LongestFirst },
    tags: [
      {
        name: 'long',
        description: 'One more target of a check that npm test makes on another one, or the same with many more events: npm run test:long.',
      },
      ...SERVER_NAMES.map((name) => ({
        name,
        description: `Skipped, and named at the end, without ${name}.`,
        skip: missing.includes(name),
      })),
    ],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/{src,build}/**/*.test.ts', '{scripts,attack}/**/*.test.ts'],
          exclude: ['**/*.{browser,integration,brokers,process}.test.ts', '**/node_modules/**'],
          globalSetup: ['scripts/test-folder.ts', 'scripts/shared-postgres.ts'],
          setupFiles: ['scripts/property-seed.ts'],
          // The files of a worker share its process: starting one and loading the service for each took a quarter of the run.
          isolate: false,
          // Not setImmediate: the turns of the process, which outlive a file, would wait for one that never comes.
          fakeTimers: { toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] },
          ...runs(120),
        },
      },
      {
        test: {
          // Unit tests of what a process does once or has only once, each file in a process of its own.
          name: 'process',
          include: ['packages/*/src/**/*.process.test.ts'],
          globalSetup: ['scripts/test-folder.ts'],
          ...runs(120),
        },
      },
      {
        test: {
          // Unit tests that kill processes and servers, wait for leases and brokers, or walk every route: too slow for `npm run check`.
          name: 'integration',
          include: ['packages/*/{src,build}/**/*.integration.test.ts'],
          globalSetup: ['scripts/test-folder.ts', 'scripts/shared-postgres.ts'],
          setupFiles: ['scripts/property-seed.ts'],
          isolate: false,
          ...runs(120),
        },
      },
      {
        test: {
          // Drivers and sources against real brokers that take long to start: `npm run test:brokers`.
          name: 'brokers',
          include: ['packages/*/src/**/*.brokers.test.ts'],
          globalSetup: ['scripts/test-folder.ts'],
          ...runs(180),
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'e2e',
          globalSetup: ['scripts/test-folder.ts', 'e2e/harness/global-setup.ts'],
          include: ['e2e/**/*.e2e.ts'],
          exclude: ['e2e/long/**', ...(process.env.STORES === 'servers' ? EMBEDDED_ONLY : [])],
          // Services and browser are processes of their own: the files of a worker share its process.
          isolate: false,
          ...runs(180),
        },
      },
      {
        test: {
          // Stories that wait for minutes, or start earlier versions of the program: `npm run test:long`.
          name: 'long',
          globalSetup: ['scripts/test-folder.ts', 'e2e/harness/global-setup.ts'],
          include: ['e2e/long/*.e2e.ts'],
          ...runs(600),
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'browser',
          globalSetup: ['scripts/test-folder.ts', 'e2e/harness/global-setup.ts'],
          include: ['e2e/**/*.browser.ts', 'packages/collector/**/*.browser.test.ts'],
          isolate: false,
          ...runs(120),
        },
      },
      {
        test: {
          // What the collector sends and how it behaves on hostile pages, once more, on an application that bundles the npm package.
          name: 'npm',
          globalSetup: ['scripts/test-folder.ts'],
          include: ['packages/collector/test/{events,hostile}.browser.test.ts'],
          isolate: false,
          env: { COLLECTOR: 'npm' },
          ...runs(120),
        },
      },
      {
        test: {
          // The other browser tests of the collector on the npm package: `npm run test:long`. Without `client-side`: integrations that run
          // in the browser are compiled into a pipeline's own script, the package has none.
          name: 'npm-long',
          globalSetup: ['scripts/test-folder.ts'],
          include: ['packages/collector/test/{consent,identity,transport}.browser.test.ts'],
          env: { COLLECTOR: 'npm' },
          ...runs(120),
        },
      },
    ],
  },
});
