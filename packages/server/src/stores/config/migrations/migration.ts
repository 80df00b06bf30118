export type Engine = 'sqlite' | 'postgres';

/** One schema step. Never edit it once released; add a new file instead. */
export interface Migration {
  id: number;
  name: string;
  /**
   * Programs that do not know this migration cannot use the schema. Without it a migration only adds (tables, indexes, columns with a
   * default), so that the previous release goes on working on the new schema.
   */
  breaks?: true;
  sql(words: SchemaWords): string[];
}
/** Syntax that differs between the two engines. */
export interface SchemaWords {
  engine: Engine;
  /** Sorts by bytes on both engines, so that ids and times have the same order everywhere. */
  text: string;
  bigint: string;
  bytes: string;
  /** Statements that make the database reject updates and deletes of rows. */
  immutable(table: string): string[];
}

export const WORDS: Record<Engine, SchemaWords> = {
  sqlite: {
    engine: 'sqlite',
    text: 'text',
    bigint: 'integer',
    bytes: 'blob',
    immutable: (table) =>
      ['update', 'delete'].map(
        (verb) =>
          `create trigger ${table}_no_${verb} before ${verb} on ${table} begin select raise(abort, '${table} rows are immutable'); end`,
      ),
  },
  postgres: {
    engine: 'postgres',
    text: 'text collate "C"',
    bigint: 'bigint',
    bytes: 'bytea',
    immutable: (table) => [
      `create function ${table}_immutable() returns trigger language plpgsql as
         $$ begin raise exception '${table} rows are immutable'; end $$`,
      `create trigger ${table}_no_change before update or delete on ${table} for each row execute function ${table}_immutable()`,
      `create trigger ${table}_no_truncate before truncate on ${table} for each statement execute function ${table}_immutable()`,
    ],
  },
};
