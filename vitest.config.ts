import { defineConfig } from 'vitest/config';

/**
 * Time limits end a test that hangs; no assertion depends on them. Each is several times what the slowest test of its kind needs on a busy
 * two-core machine. Polling ends well before, so that a failure names what it waited for. A failed test is not retried: fix a flaky test.
 */
const limits = (seconds: number) => ({
  testTimeout: seconds * 1_000,
  hookTimeout: seconds * 1_000,
  expect: { poll: { timeout: 30_000, interval: 20 } },
});

/** Stories that end at the HTTP edge or at the command line: the stores make no difference, so they run once. */
const EMBEDDED_ONLY = ['e2e/{attack,npm-start,typed-client,vendors,live-debug}.e2e.ts', 'e2e/sdks/**'];

// One project per kind of test, so that `vitest run --project unit` is quick and the others say plainly what they need.
export default defineConfig({
  test: {
    // Most suites wait for servers, disks and clocks as long as they compute: a third worker uses the idle time of two cores.
    maxWorkers: 3,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/{src,build}/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['**/*.{browser,integration,brokers}.test.ts', '**/node_modules/**'],
          globalSetup: ['scripts/test-folder.ts', 'scripts/shared-postgres.ts'],
          setupFiles: ['scripts/property-seed.ts'],
          ...limits(120),
        },
      },
      {
        test: {
          // Unit tests that kill processes and servers, wait for leases and brokers, or walk every route: too slow for `npm run check`.
          name: 'integration',
          include: ['packages/*/{src,build}/**/*.integration.test.ts'],
          globalSetup: ['scripts/test-folder.ts', 'scripts/shared-postgres.ts'],
          setupFiles: ['scripts/property-seed.ts'],
          ...limits(120),
        },
      },
      {
        test: {
          // Drivers and sources against real brokers that take long to start: `npm run test:brokers`.
          name: 'brokers',
          include: ['packages/*/src/**/*.brokers.test.ts'],
          globalSetup: ['scripts/test-folder.ts'],
          ...limits(180),
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'e2e',
          globalSetup: ['scripts/test-folder.ts', 'e2e/harness/global-setup.ts'],
          include: ['e2e/**/*.e2e.ts'],
          exclude: process.env.STORES === 'servers' ? EMBEDDED_ONLY : [],
          ...limits(180),
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'browser',
          globalSetup: ['scripts/test-folder.ts', 'packages/collector/test/global-setup.ts', 'e2e/harness/global-setup.ts'],
          include: ['e2e/**/*.browser.ts', 'packages/collector/**/*.browser.test.ts'],
          ...limits(120),
        },
      },
      {
        test: {
          // The collector's browser tests once more, on an application that bundles the npm package. Without `client-side`: integrations
          // that run in the browser are compiled into a pipeline's own script, the package has none.
          name: 'npm',
          globalSetup: ['scripts/test-folder.ts', 'packages/collector/test/global-setup.ts'],
          include: ['packages/collector/test/*.browser.test.ts'],
          exclude: ['packages/collector/test/client-side.browser.test.ts'],
          env: { COLLECTOR: 'npm' },
          ...limits(120),
        },
      },
    ],
  },
});
