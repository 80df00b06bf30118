/** Uses `node:sqlite` directly: a query builder would use more memory in the recorder's thread than everything else there. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Writer } from './writer.ts';

/** Blocks the thread while another connection writes. This thread has no other work. */
const BUSY_MS = 5_000;

/** Statements name the tables of a segment, so that old ones are never used again. */
const MAX_CACHED_STATEMENTS = 64;
/** Pages of the newest segment change with every batch. They stay in this cache, and reach the file once per checkpoint. */
const CACHE_KB = 16_384;
const CHECKPOINT_PAGES = 16_384;
const MAX_WAL_BYTES = 64 * 1_048_576;

export function openSqliteWriter(file: string): Writer & { close(): void } {
  const database = new DatabaseSync(file, { timeout: BUSY_MS });
  // `normal` loses nothing when the process is killed. A power cut may lose the last second of traces, but never tears a row.
  database.exec(
    `pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -${CACHE_KB};
     pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}; pragma journal_size_limit = ${MAX_WAL_BYTES};`,
  );
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string) => {
    let statement = statements.get(sql);
    if (statement !== undefined) return statement;
    statement = database.prepare(sql);
    if (statements.size >= MAX_CACHED_STATEMENTS) statements.delete(statements.keys().next().value ?? '');
    statements.set(sql, statement);
    return statement;
  };
  const writer: Writer = {
    engine: 'sqlite',
    all: async <T>(sql: string, parameters: readonly unknown[] = []) => prepare(sql).all(...(parameters as SQLInputValue[])) as T[],
    run: async (sql, parameters = []) => Number(prepare(sql).run(...(parameters as SQLInputValue[])).changes),
    async runEach(sql, rows) {
      const statement = prepare(sql);
      for (const row of rows) statement.run(...(row as SQLInputValue[]));
    },
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
  return { ...writer, close: () => database.close() };
}
