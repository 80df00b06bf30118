/** What a destination with tables must do. `writer.ts` does the rest: layout, types, schema evolution. */
import type { Cell, Column } from '@firsthand/core/tables/columns.ts';
import type { Dialect } from '@firsthand/core/tables/dialects.ts';
import type { TableKind } from '@firsthand/core/tables/rows.ts';
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';

/** Names as the destination stores them. */
export interface TableRef {
  schema: string | undefined;
  name: string;
}

/** Rows for one table. */
export interface Load {
  table: TableRef;
  kind: TableKind;
  /** The key is the first one. */
  columns: Column[];
  /** One list per row, in the order of `columns`; missing values are null. */
  rows: (Cell | undefined)[][];
  /** By row: the index of its record in the batch. */
  records: number[];
}

export interface RowFailure {
  record: number;
  verdict: Extract<Verdict, { kind: 'refused' | 'unavailable' }>;
}

/** Every method ends by the deadline, on `performance.now()`, and throws what `failure` can read. */
export interface TableStore {
  readonly dialect: Dialect;
  /** Undefined where there is no such table. */
  describe(table: TableRef, deadline: number): Promise<Column[] | undefined>;
  countTables(schema: string | undefined, deadline: number): Promise<number>;
  /** Does nothing where the table exists: another process may have made it. */
  create(table: TableRef, kind: TableKind, columns: readonly Column[], deadline: number): Promise<void>;
  /** Leaves out columns that exist. */
  addColumns(table: TableRef, columns: readonly Column[], deadline: number): Promise<void>;
  /** Stores all rows durably, or throws. Returns the rows that failed where the destination reports them one by one. */
  write(loads: readonly Load[], deadline: number): Promise<RowFailure[]>;
  failure(error: unknown): StoreFailure;
  close(): Promise<void>;
}

export interface StoreFailure {
  reason: string;
  /**
   * - `later`: try again; also wrong credentials and missing rights, because a person can correct them;
   * - `row`: one row is the cause, so each record is sent alone;
   * - `schema`: the table is not as it was described;
   * - `denied`: this user may not change the table;
   * - `never`: it fails at every attempt.
   */
  kind: 'later' | 'row' | 'schema' | 'denied' | 'never';
  retry_after_ms?: number;
}
