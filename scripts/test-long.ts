/** `npm run test:long`: stories that wait for minutes or start earlier versions of the program, on both kinds of stores. */
import { ensureNatsServer } from './nats-server.ts';
import { step } from './run.ts';

ensureNatsServer();
for (const stores of ['embedded', 'servers'])
  await step(`long stories, ${stores}`, 'vitest', ['run', '--project', 'long'], { STORES: stores });
