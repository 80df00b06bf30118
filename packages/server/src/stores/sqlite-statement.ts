import type { SQLInputValue, StatementSync } from 'node:sqlite';
import type { SqliteStatement } from 'kysely';

/** A statement of `node:sqlite` as Kysely's driver expects it. */
export function adaptStatement(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  };
}
