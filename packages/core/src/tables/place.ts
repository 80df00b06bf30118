/**
 * Places rows in a table whose columns are known. A value without a column gets a new one. A value that does not fit its column goes to
 * `<name>_text`. What finds no column, because the table is full or may not be changed, goes to the JSON column `_overflow`. So no
 * event is rejected for its shape, and no value is lost.
 */
import type { JsonObject } from '../json.ts';
import { deepValue } from '../shallow-json.ts';
import { utf8Length } from '../vendor/bytes.ts';
import { type AddedType, type Cell, type Column, cleanJson, cleanText, type FieldValue, instantOf, textOf, typeOf } from './columns.ts';
import { type Dialect, readColumn, timestampText } from './dialects.ts';
import { fitName, hash8, nameKey } from './names.ts';
import type { Field, TableKind, TableRow } from './rows.ts';

export const OVERFLOW = '_overflow';

/** The columns of a table, by `nameKey`. */
export type TableSchema = ReadonlyMap<string, Column>;

export interface Placed {
  /** Columns to add before the rows can be written. */
  add: Column[];
  /** The columns that at least one row fills; the key is the first one. */
  columns: Column[];
  /** One list per row, in the order of `columns`. Shorter where the last columns are empty. */
  rows: (Cell | undefined)[][];
  /** A field that has no place: the table may not be changed and has no `_overflow`. */
  unplaced: string | undefined;
}
export interface PlaceRules {
  dialect: Dialect;
  /** Most columns; the dialect's own limit counts too. */
  max_columns: number;
  /** False where the table may not be changed. */
  evolve: boolean;
}

export function schemaOf(columns: readonly Column[], { columns: rules }: Dialect): TableSchema {
  return new Map(columns.map((column) => [nameKey(column.name, rules), column]));
}

/** The columns of a new table. */
export function baseColumns({ base }: TableKind, dialect: Dialect): Column[] {
  return Object.entries(base).map(([name, type]) => madeColumn(name, type, dialect));
}
function madeColumn(name: string, type: AddedType, dialect: Dialect): Column {
  return { name: fitName(name, dialect.columns), type, sql: dialect.types[type] };
}

/** Takes the rows of one table, one by one, so that the caller can pause between them. */
export class TablePlacer {
  readonly #rules: PlaceRules;
  readonly #kind: TableKind;
  readonly #schema: Map<string, Column>;
  readonly #limit: number;
  readonly #index = new Map<Column, number>();
  readonly #placed: Placed = { add: [], columns: [], rows: [], unplaced: undefined };

  constructor(schema: TableSchema, kind: TableKind, rules: PlaceRules) {
    this.#rules = rules;
    this.#kind = kind;
    this.#schema = new Map(schema);
    // One place stays free for the overflow.
    this.#limit = Math.min(rules.max_columns, rules.dialect.max_columns) - 1;
    const key = this.#find(kind.key) ?? this.#added(kind.key, 'text');
    if (key) this.#indexOf(key);
    else this.#placed.unplaced = kind.key;
  }

  /** Read it after the last row. */
  get placed(): Placed {
    return this.#placed;
  }

  add(row: TableRow): void {
    this.#placed.rows.push(this.#row(row));
  }

  #row({ id, fields }: TableRow): (Cell | undefined)[] {
    const cells: (Cell | undefined)[] = [keyOf(id, this.#rules.dialect)];
    let overflow: JsonObject | undefined;
    for (const { name, value, type } of distinct(fields, this.#rules.dialect)) {
      const rest = this.#field(cells, name, value, type ?? this.#kind.base[name]);
      if (rest) (overflow ??= {})[name] = deepValue(value);
    }
    if (overflow !== undefined) {
      const column = this.#find(OVERFLOW) ?? this.#added(OVERFLOW, 'json', true);
      if (column) cells[this.#indexOf(column)] = cellOf(overflow, column, this.#rules.dialect) ?? null;
      else this.#placed.unplaced ??= Object.keys(overflow)[0];
    }
    return cells;
  }

  /** True where the value found no column. */
  #field(cells: (Cell | undefined)[], name: string, value: FieldValue, type: AddedType | undefined): boolean {
    const wanted = type ?? this.#fitting(value);
    const column = this.#find(name) ?? this.#added(name, wanted);
    if (!column) return true;
    const cell = cellOf(value, column, this.#rules.dialect);
    if (cell !== undefined) {
      cells[this.#indexOf(column)] = cell;
      return false;
    }
    const other = `${name}_text`;
    const sibling = this.#find(other) ?? this.#added(other, 'text');
    if (sibling?.type !== 'text') return true;
    const text = cellOf(value, sibling, this.#rules.dialect);
    const at = this.#indexOf(sibling);
    // A property of that very name came first.
    if (text === undefined || cells[at] !== undefined) return true;
    cells[at] = text;
    return false;
  }

  /** A timestamp that the destination cannot hold makes a text column. */
  #fitting(value: FieldValue): AddedType {
    const type = typeOf(value);
    return type === 'timestamp' && !inYears(instantOf(value) ?? 0, this.#rules.dialect) ? 'text' : type;
  }
  #find(name: string): Column | undefined {
    const { columns } = this.#rules.dialect;
    return this.#schema.get(nameKey(fitName(name, columns), columns));
  }
  #added(name: string, type: AddedType, last = false): Column | undefined {
    const { evolve, dialect } = this.#rules;
    if (!evolve || this.#schema.size >= (last ? dialect.max_columns : this.#limit)) return undefined;
    const made = madeColumn(name, type, dialect);
    // As the destination will report it: where JSON is stored as text, the column is a text.
    const column = { ...made, type: readColumn(made.name, made.sql, dialect).type };
    this.#schema.set(nameKey(made.name, dialect.columns), column);
    this.#placed.add.push(column);
    return column;
  }
  #indexOf(column: Column): number {
    const known = this.#index.get(column);
    if (known !== undefined) return known;
    this.#index.set(column, this.#placed.columns.length);
    return this.#placed.columns.push(column) - 1;
  }
}

/**
 * Two properties of one event whose names are one column, such as `Total` and `total`: the one that is spelled like the column keeps it,
 * the other's name gets a hash of its own spelling.
 */
function distinct(fields: readonly Field[], { columns: rules }: Dialect): readonly Field[] {
  const taken = new Map<string, number>();
  let renamed: Field[] | undefined;
  for (const [index, field] of fields.entries()) {
    const key = nameKey(fitName(field.name, rules), rules);
    const before = taken.get(key);
    if (before === undefined) {
      taken.set(key, index);
      continue;
    }
    renamed ??= [...fields];
    const earlier = renamed[before] ?? field;
    const wins = isSpelledAs(field) && !isSpelledAs(earlier);
    const loser = wins ? earlier : field;
    renamed[wins ? before : index] = { ...loser, name: `${loser.name}_${hash8(loser.source)}` };
    if (wins) taken.set(key, index);
  }
  return renamed ?? fields;
}
function isSpelledAs({ name, source }: Field): boolean {
  return name.length > 0 && name === source.slice(source.lastIndexOf('.') + 1) && name === name.toLowerCase();
}

/** Databases index keys up to a length; a visitor can claim any user id. */
function keyOf(id: string, { max_key }: Dialect): string {
  return cleanText(id.length <= max_key ? id : `${id.slice(0, max_key - 9)}_${hash8(id)}`);
}

function inYears(ms: number, { years: [from, to] }: Dialect): boolean {
  const year = new Date(ms).getUTCFullYear();
  return year >= from && year <= to;
}

/** The value for the column; undefined where it does not fit. Nothing is rounded or converted with loss, except texts that are too long. */
export function cellOf(value: FieldValue, { type, max }: Column, dialect: Dialect): Cell | undefined {
  switch (type) {
    case 'text': {
      const text = textOf(value);
      return max !== undefined && text.length > max && [...text].length > max ? undefined : shortened(text, dialect);
    }
    case 'json':
      return cleanJson(value);
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'number':
      return typeof value === 'number' ? value : undefined;
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= (max ?? Number.MAX_SAFE_INTEGER)
        ? value
        : undefined;
    case 'timestamp': {
      const ms = instantOf(value);
      return ms !== undefined && inYears(ms, dialect) ? timestampText(ms, dialect) : undefined;
    }
    case 'other':
      return textOf(value);
  }
}

function shortened(text: string, { max_text_bytes: max }: Dialect): string {
  if (max === undefined || text.length * 3 <= max || utf8Length(text) <= max) return text;
  let end = Math.min(text.length, max);
  while (utf8Length(text.slice(0, end)) > max) end -= Math.max(1, Math.ceil((utf8Length(text.slice(0, end)) - max) / 4));
  return text
    .slice(0, end)
    .toWellFormed()
    .replace(/\uFFFD$/, '');
}
