import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { MIGRATIONS } from './migrations/index.ts';
import { type Engine, type Migration, WORDS } from './migrations/migration.ts';
import type { Db } from './schema.ts';

/** An arbitrary number, the same in every version. */
const LOCK = 724_618_300;

/**
 * Brings the schema up to date: forward only, in one transaction, one process at a time (the others wait, then find nothing to do).
 * A program may run on a newer schema as long as the migrations that it does not know only add.
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
    await sql`create table if not exists schema_floor (id integer primary key, oldest integer not null)`.execute(tx);
    const applied = await appliedIds(tx);
    const latest = migrations.at(-1)?.id ?? 0;
    const newest = Math.max(0, ...applied);
    const oldest = (await oldestKnown(tx)) ?? newest;
    if (!runsOn({ schema: newest, oldest }, latest))
      throw new Error(
        `The database is at schema ${newest} and needs a program that knows schema ${oldest} or later; this version knows ${latest}. It was written by a newer version of Firsthand.`,
      );
    for (const migration of migrations) {
      if (applied.has(migration.id)) continue;
      for (const statement of migration.sql(WORDS[engine])) await sql.raw(statement).execute(tx);
      await tx
        .insertInto('schema_migrations')
        .values({ id: migration.id, name: migration.name, applied_at: new Date(now()).toISOString() })
        .execute();
    }
    if (newest <= latest) {
      const floor = migrations.findLast(({ breaks }) => breaks)?.id ?? 0;
      await tx
        .insertInto('schema_floor')
        .values({ id: 1, oldest: floor })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ oldest: floor }))
        .execute();
    }
    return true;
  });
}

/** `oldest`: the migration that a program must know to run on the schema. */
export function runsOn({ schema, oldest }: { schema: number; oldest: number }, known: number): boolean {
  return schema <= known || oldest <= known;
}

async function appliedIds(db: Db): Promise<Set<number>> {
  return new Set((await db.selectFrom('schema_migrations').select('id').execute()).map((row) => row.id));
}

/** The migration that a program must know to run on this schema. Undefined in an installation of 0.1.0, which did not note it. */
async function oldestKnown(db: Db): Promise<number | undefined> {
  return (await db.selectFrom('schema_floor').select('oldest').executeTakeFirst())?.oldest;
}

export interface SchemaStatus {
  /** The newest migration of the database; 0 for a new one. */
  schema: number;
  /** The newest migration of this program. */
  known: number;
  pending: string[];
  /** This program runs on the schema, which a newer one may have written. */
  starts: boolean;
  /** Processes of the version that wrote the database go on working after the migration. */
  rolling: boolean;
}
/** Reads the state of the schema and changes nothing. */
export async function schemaStatus(db: Db, migrations: readonly Migration[] = MIGRATIONS): Promise<SchemaStatus> {
  const tables = new Set((await db.introspection.getTables()).map(({ name }) => name));
  const applied = tables.has('schema_migrations') ? await appliedIds(db) : new Set<number>();
  const pending = migrations.filter(({ id }) => !applied.has(id));
  const schema = Math.max(0, ...applied);
  const known = migrations.at(-1)?.id ?? 0;
  const oldest = (tables.has('schema_floor') ? await oldestKnown(db) : undefined) ?? schema;
  return {
    schema,
    known,
    pending: pending.map(({ id, name }) => `${id} ${name}`),
    starts: runsOn({ schema, oldest }, known),
    rolling: applied.size > 0 && !pending.some(({ breaks }) => breaks),
  };
}
