import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startDatabase } from '../../../test/servers/index.ts';
import { systemClock } from '../../runtime/clock.ts';
import { openConfigStore } from './open.ts';
import { inTransaction } from './transaction.ts';
import { nextConfigVersion } from './version.ts';

describe('a transaction that meets the lock of another', { tags: ['postgresql'] }, () => {
  async function start() {
    const database = await startDatabase();
    const store = await openConfigStore({
      databaseUrl: database.url,
      dataDir: mkdtempSync(join(tmpdir(), 'firsthand-store-')),
      clock: systemClock,
    });
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    onTestFinished(async () => {
      await other.end();
      await store.close();
      await database.stop();
    });
    const clock = { time: 0, monotonic: () => clock.time };
    const closing = new AbortController();
    let attempts = 0;
    const run = (onAttempt: (attempt: number) => unknown) =>
      inTransaction({ db: store.db, clock, closing: closing.signal }, async (tx) => {
        await onAttempt(++attempts);
        return await nextConfigVersion(tx);
      });
    await other.query('begin; update config_version set version = version where id = 1');
    return { clock, closing, other, run };
  }

  test('waits for it: ten tabs that refreshed at once, or a change beside another process, were answered 503 on a busy machine', async () => {
    const { other, run } = await start();
    expect(await run((attempt) => attempt === 4 && void other.query('commit'))).toBeGreaterThan(0);
  });

  test('gives up at its deadline', async () => {
    const { clock, run } = await start();
    const waiting = run((attempt) => {
      if (attempt === 2) clock.time += 11_000;
    });
    await expect(waiting).rejects.toMatchObject({ code: '55P03' });
  });

  test('gives up when the process stops: a sign-in that waited had its connection cut after 4 s', async () => {
    const { closing, run } = await start();
    const waiting = run((attempt) => attempt === 2 && closing.abort());
    await expect(waiting).rejects.toMatchObject({ code: '55P03' });
  });
});
