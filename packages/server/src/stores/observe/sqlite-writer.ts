/** Uses `node:sqlite` directly: a query builder would use more memory in the recorder's thread than everything else there. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Writer } from './writer.ts';

/** Blocks the thread while another connection writes. This thread has no other work. */
const BUSY_MS = 5_000;

export function openSqliteWriter(file: string): Writer {
  const database = new DatabaseSync(file, { timeout: BUSY_MS });
  database.exec('pragma journal_mode = wal; pragma synchronous = normal;');
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string) => {
    let statement = statements.get(sql);
    if (statement === undefined) statements.set(sql, (statement = database.prepare(sql)));
    return statement;
  };
  const writer: Writer = {
    engine: 'sqlite',
    all: async <T>(sql: string, parameters: readonly unknown[] = []) => prepare(sql).all(...(parameters as SQLInputValue[])) as T[],
    run: async (sql, parameters = []) => Number(prepare(sql).run(...(parameters as SQLInputValue[])).changes),
    async transaction(work) {
      database.exec('begin immediate');
      try {
        const result = await work(writer);
        database.exec('commit');
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec('rollback');
        throw error;
      }
    },
  };
  return writer;
}
