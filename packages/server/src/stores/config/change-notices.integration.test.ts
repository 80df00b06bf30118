// @module-tag postgresql
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPostgres, type TestServer } from '../../../test/servers/index.ts';
import { systemClock } from '../../runtime/clock.ts';
import { until } from '../event-log/conformance/kit.ts';
import { listenForChanges } from './change-notices.ts';
import { type ConfigStore, openConfigStore } from './open.ts';
import { nextConfigVersion, notify } from './version.ts';

let server: TestServer;
let store: ConfigStore;
beforeAll(async () => {
  server = await startPostgres();
  store = await openConfigStore({ databaseUrl: server.url, dataDir: '', clock: systemClock });
});
afterAll(async () => {
  await store.close();
  await server.stop();
});

test('a committed change is announced, a rolled back one is not, and a lost connection is noticed and restored', async () => {
  let heard = 0;
  const notices = listenForChanges({
    databaseUrl: server.url,
    notify: (channel, payload) => notify(store.db, channel, payload),
    onChange: () => void heard++,
  });
  await until(() => notices.live);
  const before = heard;
  await store.db
    .transaction()
    .execute(async (tx) => {
      await nextConfigVersion(tx);
      throw new Error('on purpose');
    })
    .catch(() => undefined);
  await store.db.transaction().execute((tx) => nextConfigVersion(tx));
  await until(() => heard > before);
  expect(heard).toBe(before + 1);
  // Looked for while it restarts: the connection may be back by its end.
  await Promise.all([until(() => !notices.live), server.restart()]);
  await until(() => notices.live);
  // Changes during the outage were not heard, so the caller is told to look.
  expect(heard).toBeGreaterThan(before + 1);
  await notices.stop();
  expect(notices.live).toBe(false);
});

test('where notifications do not come back, as behind a pooler, they are not trusted', async () => {
  let probes = 0;
  const notices = listenForChanges({
    databaseUrl: server.url,
    notify: async () => void probes++,
    onChange: () => {},
  });
  await until(() => probes > 1);
  expect(notices.live).toBe(false);
  await notices.stop();
});
