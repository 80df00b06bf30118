/** The little that writing needs of a database. SQL has `?` for its parameters on both engines. */
import type { Engine } from './tables.ts';

export interface Writer {
  engine: Engine;
  all<T>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** Resolves with the number of rows that it changed. */
  run(sql: string, parameters?: readonly unknown[]): Promise<number>;
  transaction<T>(work: (writer: Writer) => Promise<T>): Promise<T>;
}
