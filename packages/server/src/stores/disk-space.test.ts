import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../runtime/clock.ts';
import { openSqliteSpace } from './disk-space.ts';
import { openLmdbLog } from './event-log/lmdb.ts';

const folder = mkdtempSync(join(tmpdir(), 'firsthand-space-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('space of a SQLite file moves from used to reusable when rows go', async () => {
  const file = join(folder, 'some.sqlite');
  const database = new DatabaseSync(file);
  const space = openSqliteSpace(file);
  expect(space.read()).toEqual({ used: 0, reusable: 0 });
  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)';
  database.exec(`create table t (x text); insert into t ${numbers} select printf('%500d', i) from n`);
  const full = space.read();
  expect(full.used).toBeGreaterThan(1_000_000);
  expect(full.reusable).toBe(0);
  database.exec('drop table t');
  const empty = space.read();
  expect(empty.reusable).toBeGreaterThan(1_000_000);
  expect(empty.used + empty.reusable).toBe(full.used);
  database.close();
  await space.close();
});

test.runIf(process.platform === 'linux')('reading the space leaves SQLite its locks on the file', async () => {
  const file = join(folder, 'live.sqlite');
  const database = new DatabaseSync(file);
  database.exec('pragma journal_mode = wal; create table t (x); insert into t values (1)');
  const own = new RegExp(` ${process.pid} \\S+:${statSync(file).ino} `);
  const locks = () =>
    readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .filter((line) => own.test(line));
  expect(locks()).toHaveLength(1);
  const space = openSqliteSpace(file);
  space.read();
  space.read();
  expect(locks()).toHaveLength(1);
  database.close();
  await space.close();
});

test('space of the log moves from used to reusable when records expire', async () => {
  const log = await openLmdbLog({ path: join(folder, 'log'), dedupWindowMs: 60_000, clock: systemClock });
  const records = Array.from({ length: 2_000 }, (_, n) => ({ id: String(n), data: Buffer.alloc(500) }));
  await log.append([{ topic: 'events.a', records }]);
  const full = log.environment.space();
  expect(full.used).toBeGreaterThan(1_000_000);
  expect(await log.expire('events.a', new Date(Date.now() + 1_000))).toBe(2_000);
  const empty = log.environment.space();
  expect(empty.used).toBeLessThan(full.used / 2);
  expect(empty.reusable).toBeGreaterThan(900_000);
  await log.close();
});
