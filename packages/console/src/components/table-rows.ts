/** The rows of a `table` or `list` field: what the form shows of the stored value, and what it stores. */
import { type ConfigField, typeOf } from './config-field.ts';

export type TableRow = Record<string, unknown>;

type Field = Pick<ConfigField, 'type' | 'rows' | 'columns'>;
const isList = (field: Field): boolean => typeOf(field) === 'list';

/** Lists are stored as bare values; the form shows them as rows of one column. A value that is the JSON text of a list is read too. */
export function rowsOf(field: Field, value: unknown): TableRow[] {
  const list = typeof value === 'string' ? parseList(value) : value;
  if (!Array.isArray(list)) return [];
  const key = field.columns?.[0]?.key ?? 'value';
  return list.map((row: unknown) => (isList(field) ? { [key]: row } : typeof row === 'object' && row !== null ? (row as TableRow) : {}));
}
export function storedOf(field: Field, rows: readonly TableRow[]): unknown[] {
  const key = field.columns?.[0]?.key ?? 'value';
  return isList(field) ? rows.map((row) => row[key] ?? '') : [...rows];
}
/** A cell that is emptied is left out, as if it had never been filled. */
export function withCell(row: TableRow, key: string, value: unknown): TableRow {
  const { [key]: _before, ...rest } = row;
  return value === '' || value === undefined ? rest : { ...rest, [key]: value };
}
/** A new row starts with the defaults of its columns. */
export const newRow = ({ columns = [] }: Pick<ConfigField, 'columns'>): TableRow =>
  Object.fromEntries(columns.flatMap((column) => (column.default === undefined ? [] : [[column.key, column.default]])));
/** The path of a cell inside its field, as faults name it. */
export const cellPath = (field: Field, at: number, key: string): string => (isList(field) ? `[${at}]` : `[${at}].${key}`);

function parseList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // an empty text, or one that the service refuses too
  }
}
