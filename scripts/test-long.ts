/**
 * `npm run test:long`: tests that are too slow for `npm test`. Stories that wait for minutes or start earlier versions of the program.
 * Tests with the tag `long`. More random bodies for the management API. The npm package of the collector in Chromium. The package for
 * `npx firsthand` in an empty folder.
 */
import { ensureNatsServer } from './nats-server.ts';
import { step } from './run.ts';

ensureNatsServer();
await step('integration tests with the tag long', 'vitest', ['run', '--project', 'integration', '--tags-filter=long']);
await step('random bodies', 'vitest', ['run', '--project', 'integration', 'bad-input', '-t', 'bodies drawn'], { FUZZ_RUNS: '20' });
for (const stores of ['embedded', 'servers']) {
  await step(`stories with the tag long, ${stores}`, 'vitest', ['run', '--project', 'e2e', '--tags-filter=long'], { STORES: stores });
  await step(`long stories, ${stores}`, 'vitest', ['run', '--project', 'long'], { STORES: stores });
}
await step('npm package of the collector in Chromium', 'vitest', ['run', '--project', 'npm-long'], { STORES: 'embedded' });
await step('npx firsthand start in an empty folder', 'node', ['scripts/pack.ts', '--try']);
