import { defineConfig } from 'vitest/config';

// Only ends what hangs: no test may depend on how quick the machine is, and a busy one takes several times as long.
// What fails is tried once more, and the report says so: processes, browsers and networks have bad moments, bugs come again.
const patience = { testTimeout: 300_000, hookTimeout: 300_000, retry: 1, expect: { poll: { timeout: 60_000, interval: 20 } } };

// One project per kind of test, so that `vitest run --project unit` is quick and the others say plainly what they need.
export default defineConfig({
  test: {
    // Most suites wait on servers, disks and clocks as long as they compute: a third worker uses what two leave of two cores.
    maxWorkers: 3,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/{src,build}/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['**/*.browser.test.ts', '**/node_modules/**'],
          globalSetup: ['scripts/test-folder.ts'],
          setupFiles: ['scripts/property-seed.ts'],
          ...patience,
        },
      },
      {
        test: {
          name: 'e2e',
          globalSetup: ['scripts/test-folder.ts', 'e2e/harness/global-setup.ts'],
          include: ['e2e/**/*.e2e.ts'],
          ...patience,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'browser',
          globalSetup: ['scripts/test-folder.ts', 'packages/collector/test/global-setup.ts'],
          include: ['e2e/**/*.browser.ts', 'packages/collector/**/*.browser.test.ts'],
          ...patience,
        },
      },
    ],
  },
});
