/** Starts the longest test files first, so that no core waits for one of them at the end of a run. A clean clone has no times to sort by. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  ...['packages/catalog/src/vendors/suite.test.ts', 'admin/routes/integrations.test.ts', 'admin/routes/dead-letters.test.ts'],
  ...['admin/routes/transformations.test.ts', 'event-log/lmdb.test.ts', 'deliver/deliver.test.ts'],
  // Among integration tests, files that wait stand between those that compute: together at the end they would leave the cores idle.
  ...['outcomes/sweeper.integration.test.ts', 'ingest/request-signing-guide.integration.test.ts'],
  ...['files/object-stores.integration.test.ts'],
  ...['admin/every-route.integration.test.ts', 'backup/backup.integration.test.ts', 'leases/leases.integration.test.ts'],
  ...['transports/frame-limits.integration.test.ts', 'event-log/jetstream-quorum.integration.test.ts'],
  ...['config/change-notices.integration.test.ts', 'event-log/jetstream-rolling-restart.integration.test.ts'],
  ...['admin/availability.integration.test.ts', 'admin/bad-input.integration.test.ts', 'sandbox/sandbox.integration.test.ts'],
  ...['process/order.integration.test.ts', 'event-log/jetstream-faults.integration.test.ts', 'files/sftp.integration.test.ts'],
  ...['event-log/lmdb-faults.integration.test.ts', 'routes/api-tokens.integration.test.ts', 'collector/builds.integration.test.ts'],
  ...['consumers/sources.integration.test.ts', 'event-log/crash.integration.test.ts'],
  ...['event-log/jetstream.integration.test.ts', 'auth/sign-in-limits.integration.test.ts', 'cli/src/cli.integration.test.ts'],
  ...['process/lagging.integration.test.ts', 'event-log/jetstream-layout.integration.test.ts'],
  ...['e2e/several-deliverers.e2e.ts', 'e2e/uncaught-exception.e2e.ts', 'e2e/rolling-restart.e2e.ts', 'e2e/attack.e2e.ts'],
  ...['e2e/repeats.e2e.ts', 'e2e/crash.e2e.ts', 'e2e/database-away.e2e.ts', 'e2e/shared-limits.e2e.ts', 'e2e/vendors.e2e.ts'],
  ...['e2e/operations.e2e.ts', 'e2e/live-debug.e2e.ts', 'e2e/running.e2e.ts', 'e2e/processing.e2e.ts', 'e2e/backup.e2e.ts'],
  ...['e2e/console-pages.browser.ts', 'e2e/console-lists.browser.ts', 'e2e/console-flows.browser.ts', 'e2e/console-access.browser.ts'],
  ...['e2e/console-trouble.browser.ts', 'e2e/console-mapping.browser.ts', 'test/transport.browser.test.ts'],
  ...['e2e/console-keyboard.browser.ts', 'e2e/console-editors.browser.ts', 'test/consent.browser.test.ts'],
  ...['e2e/console-conflicts.browser.ts', 'e2e/console-changes.browser.ts', 'e2e/console-event.browser.ts'],
  ...['test/identity.browser.test.ts', 'e2e/console.browser.ts'],
];
const place = ({ moduleId }: TestSpecification) => {
  const at = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`));
  return at < 0 ? LONGEST.length : at;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
