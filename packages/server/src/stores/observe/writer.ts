/** The minimal database interface for writing. SQL uses `?` for parameters on both engines. */
import type { Engine } from './tables.ts';

export interface Writer {
  engine: Engine;
  all<T>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** Resolves with the number of changed rows. */
  run(sql: string, parameters?: readonly unknown[]): Promise<number>;
  /** Runs the statement once per row of parameters. */
  runEach(sql: string, rows: readonly (readonly unknown[])[]): Promise<void>;
  transaction<T>(work: (writer: Writer) => Promise<T>): Promise<T>;
}
