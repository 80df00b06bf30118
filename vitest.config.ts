import { defineConfig } from 'vitest/config';

// One project per kind of test, so that `vitest run --project unit` is quick and the others say plainly what they need.
export default defineConfig({
  test: {
    // Most suites wait on servers, disks and clocks more than they compute: one worker for each of two cores.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/{src,build}/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['**/*.browser.test.ts', '**/node_modules/**'],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'e2e',
          globalSetup: ['e2e/harness/global-setup.ts'],
          include: ['e2e/**/*.e2e.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['e2e/**/*.browser.ts', 'packages/collector/**/*.browser.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
