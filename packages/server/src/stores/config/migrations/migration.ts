export type Engine = 'sqlite' | 'postgres';

/** One step of the schema, never edited once released: a change is a new file. */
export interface Migration {
  id: number;
  name: string;
  sql(words: SchemaWords): string[];
}
/** What the two engines spell differently. */
export interface SchemaWords {
  engine: Engine;
  /** Byte order on both, so that ids and times sort alike everywhere. */
  text: string;
  bigint: string;
  bytes: string;
  /** Statements that make the database itself refuse a change or removal of a row. */
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
