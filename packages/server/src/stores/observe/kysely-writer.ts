import { CompiledQuery } from 'kysely';
import type { ObserveDb } from './schema.ts';
import type { Writer } from './writer.ts';

/** Writes through an already open store. */
export function kyselyWriter({ db, engine }: ObserveDb): Writer {
  const query = (sql: string, parameters: readonly unknown[] = []) => {
    let count = 0;
    const text = engine === 'postgres' ? sql.replace(/\?/g, () => `$${++count}`) : sql;
    return db.executeQuery<unknown>(CompiledQuery.raw(text, [...parameters]));
  };
  return {
    engine,
    all: async <T>(sql: string, parameters?: readonly unknown[]) => (await query(sql, parameters)).rows as T[],
    run: async (sql, parameters) => Number((await query(sql, parameters)).numAffectedRows ?? 0),
    async runEach(sql, rows) {
      for (const row of rows) await query(sql, row);
    },
    transaction: (work) => db.transaction().execute((tx) => work(kyselyWriter({ db: tx, engine }))),
  };
}
