import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';

const MAX_CACHED_STATEMENTS = 256;
/** Another process (the command line beside a running service) may hold the write lock for a moment. */
const BUSY_TIMEOUT_MS = 2_000;

export function sqliteDialect(file: string): SqliteDialect {
  return new SqliteDialect({ database: async () => openSqlite(file) });
}

/** Kysely asks for the shape of another SQLite driver; this is `node:sqlite` in that shape, with its statements kept. */
function openSqlite(file: string): SqliteDatabase {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  database.exec('pragma journal_mode = wal; pragma synchronous = full;');
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(sql) {
      const kept = statements.get(sql);
      if (kept !== undefined) return kept;
      // Take the write lock when a transaction begins: a read that later wants to write could only fail.
      const statement = adapt(database.prepare(sql === 'begin' ? 'begin immediate' : sql));
      if (statements.size >= MAX_CACHED_STATEMENTS) statements.delete(statements.keys().next().value!);
      statements.set(sql, statement);
      return statement;
    },
  };
}

function adapt(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  };
}
