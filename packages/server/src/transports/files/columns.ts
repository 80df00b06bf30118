/**
 * Rows to columns, for CSV and Parquet. Each file has the columns of its own rows, so no event is rejected for its shape. Whole events
 * always have the same leading columns, in the same order and with the same types, so that the files of a folder can be read together.
 */
import { hash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '@firsthand/core/json.ts';
import { deepValue, RawJson } from '@firsthand/core/shallow-json.ts';

export type ColumnType = 'text' | 'json' | 'integer' | 'number' | 'boolean' | 'timestamp';
export interface Column {
  name: string;
  type: ColumnType;
  /** One per row. `null`: the row has no value. A new list at each read. */
  readonly values: readonly (Value | undefined)[];
  /**
   * The rows that have a value, in their order, and these values. A file may have a thousand columns of which each row fills a few: lists of
   * all rows would take 80 MB.
   */
  filled?: Filled;
}
interface Filled {
  rows: number[];
  values: Value[];
}
/** Objects and lists may come as their JSON text. */
export type Value = Json | RawJson;
export type Row = Readonly<Record<string, Value>>;

const EVENT_COLUMNS: readonly (readonly [name: string, type: ColumnType])[] = [
  ['event_id', 'text'],
  ['type', 'text'],
  ['original_type', 'text'],
  ['event', 'text'],
  ['name', 'text'],
  ['user_id', 'text'],
  ['anonymous_id', 'text'],
  ['group_id', 'text'],
  ['timestamp', 'timestamp'],
  ['context', 'json'],
  ['properties', 'json'],
  ['traits', 'json'],
];
const NESTED: ReadonlySet<string> = new Set(['context', 'properties', 'traits']);
/** Glue and Athena allow 255 characters. */
const MAX_NAME = 255;
/** Every column costs memory and a page of its own in each file. */
const MAX_COLUMNS = 1_000;
const OVERFLOW = 'more_columns';

/** `flatten`: each property is a column (`properties_total`) instead of being part of the JSON column `properties`. */
export function columnsOf(rows: readonly Row[], flatten: boolean): Column[] {
  const table = new Table(rows.length);
  const events = rows.every(isEvent);
  if (events) for (const [name, type] of EVENT_COLUMNS) if (!flatten || !NESTED.has(name)) table.declare(name, type);
  for (const [index, row] of rows.entries())
    for (const [key, value] of Object.entries(row)) {
      const nested = flatten && (!events || NESTED.has(key)) ? objectOf(value) : undefined;
      if (nested) table.addNested(index, key, nested);
      else table.add(index, key, value);
    }
  return table.columns();
}

function objectOf(value: Value): JsonObject | undefined {
  const deep = value instanceof RawJson ? value.parsed() : value;
  return isObject(deep) ? (deep as JsonObject) : undefined;
}
function isEvent(row: Row): boolean {
  return typeof row.event_id === 'string' && typeof row.type === 'string' && typeof row.timestamp === 'string';
}

type OpenColumn = Filled & { name: string };

class Table {
  readonly #rows: number;
  /** By the key as it was sent. */
  readonly #byKey = new Map<string, OpenColumn>();
  /** Lower-case: most readers ignore case. */
  readonly #taken = new Set<string>();
  readonly #declared = new Map<OpenColumn, ColumnType>();
  #overflow: OpenColumn | undefined;

  constructor(rows: number) {
    this.#rows = rows;
  }
  declare(name: string, type: ColumnType): void {
    this.#declared.set(this.#open(name), type);
  }
  add(row: number, key: string, value: Value | undefined): void {
    if (value === undefined || value === null) return;
    const column = this.#byKey.get(key) ?? (this.#byKey.size < MAX_COLUMNS ? this.#open(key) : undefined);
    if (column) put(column, row, value);
    else this.#overflowAt(row)[key] = deepValue(value);
  }
  addNested(row: number, prefix: string, value: JsonObject): void {
    for (const [key, inner] of Object.entries(value)) {
      const name = `${prefix}_${key}`;
      if (isObject(inner)) this.addNested(row, name, inner as JsonObject);
      else this.add(row, name, inner);
    }
  }
  columns(): Column[] {
    const all = [...this.#byKey.values(), ...(this.#overflow ? [this.#overflow] : [])];
    return all.map((column) => columnOf(column, typeOf(column.values, this.#declared.get(column)), this.#rows));
  }

  #open(key: string): OpenColumn {
    const column: OpenColumn = { name: this.#nameOf(key), rows: [], values: [] };
    this.#byKey.set(key, column);
    return column;
  }
  #overflowAt(row: number): JsonObject {
    this.#overflow ??= { name: this.#nameOf(OVERFLOW), rows: [], values: [] };
    if (this.#overflow.rows.at(-1) !== row) put(this.#overflow, row, {});
    return this.#overflow.values.at(-1) as JsonObject;
  }
  /** Long names are cut and keep a part of their hash; names that differ only in case get a number. */
  #nameOf(key: string): string {
    const clean = key.toWellFormed().replace(/[\u0000-\u001f\u007f]/g, '_') || '_';
    const cut =
      clean.length <= MAX_NAME ? clean : `${clean.slice(0, MAX_NAME - 9).toWellFormed()}_${hash('sha256', key, 'hex').slice(0, 8)}`;
    let name = cut;
    for (let number = 2; this.#taken.has(name.toLowerCase()); number++) name = `${cut.slice(0, MAX_NAME - 5)}_${number}`;
    this.#taken.add(name.toLowerCase());
    return name;
  }
}

/** Rows come in their order. Two keys of one row may be the same column: the later one counts. */
function put({ rows, values }: Filled, row: number, value: Value): void {
  if (rows.at(-1) === row) values.pop();
  else rows.push(row);
  values.push(value);
}
function columnOf({ name, rows, values }: OpenColumn, type: ColumnType, count: number): Column {
  const filled = { rows, values };
  const column: Column = {
    name,
    type,
    get values() {
      const all = Array<Value>(count).fill(null);
      for (const [i, row] of rows.entries()) all[row] = values[i] ?? null;
      return all;
    },
  };
  return Object.defineProperty(column, 'filled', { value: filled });
}

/** The narrowest type that holds every value. A declared type holds unless a value contradicts it. */
function typeOf(values: readonly Value[], declared: ColumnType | undefined): ColumnType {
  const kinds = new Set<ColumnType>();
  let times = declared === 'timestamp';
  for (const value of values) {
    if (value === null) continue;
    kinds.add(kindOf(value));
    if (times && !isTime(value)) times = false;
  }
  if (times) return 'timestamp';
  if (declared === 'json' || kinds.has('json')) return 'json';
  if (declared !== undefined || kinds.size === 0) return 'text';
  const [only] = kinds;
  if (kinds.size === 1 && only !== undefined) return only;
  return kinds.size === 2 && kinds.has('integer') && kinds.has('number') ? 'number' : 'text';
}
function kindOf(value: Value): ColumnType {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  return 'json';
}
function isTime(value: Value): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value) && !Number.isNaN(Date.parse(value));
}

/** The value as text: strings as they are, everything else as JSON. */
export function cellText(value: Value, type: ColumnType): string {
  if (value instanceof RawJson) return value.text;
  if (type === 'json' || typeof value === 'object') return JSON.stringify(value).toWellFormed();
  return typeof value === 'string' ? value.toWellFormed() : String(value);
}
