import type { CounterRow } from './rows.ts';
import { type ObserveTables, TABLES } from './tables.ts';
import type { Writer } from './writer.ts';

export const columnsOf = (table: keyof ObserveTables) => Object.entries(TABLES[table].columns);

/** SQLite takes rows one by one: reading the values from JSON costs four times as much as binding them. */
export async function insertRows(
  writer: Writer,
  table: string,
  columns: readonly [name: string, type: string][],
  rows: readonly object[],
  onConflict = '',
): Promise<void> {
  if (rows.length === 0) return;
  if (writer.engine === 'sqlite') {
    const names = columns.map(([name]) => name);
    const values = rows.map((row) => names.map((name) => cell(row, name)));
    return await writer.runEach(
      `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) ${onConflict}`,
      values,
    );
  }
  await insertTogether(writer, table, columns, rows, onConflict);
}
/** PostgreSQL only. Resolves with the number of rows that were written. */
export async function insertTogether(
  writer: Writer,
  table: string,
  columns: readonly [name: string, type: string][],
  rows: readonly object[],
  onConflict: string,
): Promise<number> {
  if (rows.length === 0) return 0;
  const values = columns.map(([name, type]) => ({ name, type, values: rows.map((row) => cell(row, name)) }));
  const { sql, parameters } = selectRows(values);
  return await writer.run(`insert into ${table} (${columns.map(([name]) => name).join(', ')}) ${sql} ${onConflict}`, parameters);
}
const cell = (row: object, name: string) => ((row as Record<string, unknown>)[name] ?? null) as Value;
type Value = string | number | null;

export async function addToCounters(writer: Writer, rows: readonly CounterRow[]): Promise<void> {
  await insertRows(writer, 'counters', columnsOf('counters'), rows, ADD_COUNTER);
}
const ADD_COUNTER = 'on conflict (org_id, pipeline_id, integration_id, minute, counter) do update set n = counters.n + excluded.n';

/**
 * PostgreSQL takes many rows in one statement with an array per column, which saves round trips and costs half of reading them from JSON. A
 * value that all rows have is sent once.
 */
function selectRows(columns: readonly { name: string; type: string; values: Value[] }[]): { sql: string; parameters: Value[] } {
  const isShared = columns.map(({ values }) => values.every((value) => value === values[0]));
  // Without an array there would be no rows.
  if (isShared.every(Boolean)) isShared[0] = false;
  const selected = columns.map(({ name, type }, i) => (isShared[i] ? `?::${type}` : name));
  const arrays = columns.filter((_, i) => !isShared[i]);
  const from = `unnest(${arrays.map(({ type }) => `?::${type}[]`).join(', ')}) as given (${arrays.map(({ name }) => name).join(', ')})`;
  const once = columns.filter((_, i) => isShared[i]).map(({ values }) => values[0] ?? null);
  return { sql: `select ${selected.join(', ')} from ${from}`, parameters: [...once, ...arrays.map(({ values }) => arrayText(values))] };
}
/** An array as PostgreSQL reads it. The driver's own text takes several times as long: it replaces in every value, twice. */
export function arrayText(values: readonly Value[]): string {
  return `{${values.map(elementText).join(',')}}`;
}
function elementText(value: Value): string | number {
  if (typeof value !== 'string') return value ?? 'NULL';
  return `"${SPECIAL.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`;
}
const SPECIAL = /["\\]/;
