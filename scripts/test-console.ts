/** `npm run test:console -- servers`: the console's stories in Chromium on PostgreSQL and NATS JetStream; without a word on the embedded stores. Writes a picture of every page to data/screenshots. */
import { step } from './run.ts';

const [stores = 'embedded'] = process.argv.slice(2);
if (stores !== 'embedded' && stores !== 'servers') {
  console.error(`Unknown stores: ${stores}. Use embedded or servers.`);
  process.exit(2);
}
await step(`console in Chromium, ${stores} stores`, 'vitest', ['run', '--project', 'browser', 'e2e/console'], {
  STORES: stores,
  PICTURES: 'yes',
});
