import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { MIGRATIONS } from './migrations/index.ts';
import { type Engine, type Migration, WORDS } from './migrations/migration.ts';
import type { Db } from './schema.ts';

/** An arbitrary number, the same in every version. */
const LOCK = 724_618_300;

/**
 * Brings the schema up to date: forward only, in one transaction, one process at a time (the others wait, then find nothing to do).
 * Rejects a database written by a newer version.
 */
export async function migrate(db: Db, engine: Engine, now: () => number, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  // Poll for the lock instead of blocking on it: queries have a timeout, but another process's migration may take longer.
  for (let tries = 1; !(await migrateIfFirst(db, engine, now, migrations)); tries++) {
    if (tries > 600) throw new Error('Another process has been migrating the database for a minute.');
    await setTimeout(100);
  }
}

async function migrateIfFirst(db: Db, engine: Engine, now: () => number, migrations: readonly Migration[]): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    // SQLite transactions take the write lock when they begin.
    if (engine === 'postgres') {
      const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_xact_lock(${LOCK}) as locked`.execute(tx);
      if (!rows[0]?.locked) return false;
    }
    await sql`create table if not exists schema_migrations (id integer primary key, name text not null, applied_at text not null)`.execute(
      tx,
    );
    const applied = new Set((await tx.selectFrom('schema_migrations').select('id').execute()).map((row) => row.id));
    const latest = migrations.at(-1)?.id ?? 0;
    const newest = Math.max(0, ...applied);
    if (newest > latest)
      throw new Error(`The database is at schema ${newest}, this version knows ${latest}: it was written by a newer version of Firsthand.`);
    for (const migration of migrations) {
      if (applied.has(migration.id)) continue;
      for (const statement of migration.sql(WORDS[engine])) await sql.raw(statement).execute(tx);
      await tx
        .insertInto('schema_migrations')
        .values({ id: migration.id, name: migration.name, applied_at: new Date(now()).toISOString() })
        .execute();
    }
    return true;
  });
}
