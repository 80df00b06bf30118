import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseConnection, type SqliteDatabase, SqliteDialect, SqliteDriver, type SqliteStatement } from 'kysely';
import { namingFile } from '../data-dir.ts';
import { adaptStatement } from '../sqlite-statement.ts';
import { isUnavailable } from './availability.ts';

const MAX_CACHED_STATEMENTS = 256;
const OPEN_TIMEOUT_MS = 5_000;
/** Waiting blocks the whole process, so this is short. */
const STATEMENT_TIMEOUT_MS = 200;
const BEGIN_TIMEOUT_MS = 3_000;

export function sqliteDialect(file: string): SqliteDialect {
  return new PatientSqliteDialect({ database: async () => openSqlite(file) });
}

/**
 * Another process (the command line next to a running service) may hold the write lock. Transactions wait for it without blocking this
 * process.
 */
class PatientSqliteDialect extends SqliteDialect {
  readonly #config: ConstructorParameters<typeof SqliteDialect>[0];
  constructor(config: ConstructorParameters<typeof SqliteDialect>[0]) {
    super(config);
    this.#config = config;
  }
  override createDriver() {
    return new PatientSqliteDriver(this.#config);
  }
}
class PatientSqliteDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    for (const deadline = performance.now() + BEGIN_TIMEOUT_MS; ; ) {
      try {
        return await super.beginTransaction(connection);
      } catch (error) {
        if (!isUnavailable(error) || performance.now() > deadline) throw error;
        await sleep(10);
      }
    }
  }
}

const NOTHING: SqliteStatement = { reader: false, all: () => [], run: () => ({ changes: 0, lastInsertRowid: 0 }), *iterate() {} };

/** Adapts `node:sqlite` to the driver interface that Kysely expects, and caches prepared statements. */
function openSqlite(file: string): SqliteDatabase {
  const database = new DatabaseSync(file, { timeout: OPEN_TIMEOUT_MS, enableForeignKeyConstraints: true });
  naming(file, () => database.exec(`pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = ${STATEMENT_TIMEOUT_MS};`));
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(sql) {
      // On a full disk SQLite rolls back by itself. A second rollback would fail, and its error would hide the first one.
      if (sql === 'rollback' && !database.isTransaction) return NOTHING;
      const kept = statements.get(sql);
      if (kept !== undefined) return kept;
      // Take the write lock when a transaction begins: upgrading a read lock later could only fail.
      const { reader, all, run, iterate } = naming(file, () => adaptStatement(database.prepare(sql === 'begin' ? 'begin immediate' : sql)));
      const statement: SqliteStatement = {
        reader,
        all: (parameters) => naming(file, () => all(parameters)),
        run: (parameters) => naming(file, () => run(parameters)),
        iterate,
      };
      if (statements.size >= MAX_CACHED_STATEMENTS) statements.delete(statements.keys().next().value ?? '');
      statements.set(sql, statement);
      return statement;
    },
  };
}

/** A file that is damaged in the middle is noticed by the statement that reads the place. */
function naming<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw namingFile(file, error);
  }
}
