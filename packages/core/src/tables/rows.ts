/** A row for a table, before the table's own columns are known. */
import { isoTime } from '../iso-time.ts';
import type { Json, JsonObject } from '../json.ts';
import type { AddedType, FieldValue } from './columns.ts';
import { snakeCase } from './names.ts';

export interface Field {
  name: string;
  /** Where the value comes from. Two fields with one name and different sources get two columns. */
  source: string;
  value: FieldValue;
  /** The type of a new column; absent: the value decides. */
  type?: AddedType;
}
/** Constant per kind of table. */
export interface TableKind {
  key: 'id' | 'event_id';
  /** Columns of a new table and their types, whatever the first values are. */
  base: Readonly<Record<string, AddedType>>;
  /** One row per id that keeps the newest values, such as a user's traits. Otherwise one row per event. */
  latest: boolean;
  /** Holds the time of acceptance, by which tables are sorted and partitioned. */
  time?: 'received_at';
}
export interface TableRow {
  table: string;
  /** The value of the column `kind.key`. */
  id: string;
  kind: TableKind;
  fields: Field[];
}

/** The deepest nested field that becomes a column of its own; what is below is JSON. */
const MAX_DEPTH = 4;

export interface FlattenOptions {
  /** Lists, and objects that are nested too deeply: JSON, or its text. */
  lists: 'json' | 'text';
  /** Texts never become timestamps: the context holds titles and ids, where one odd value would decide for all. */
  plain?: boolean;
}

/** Adds one field per value inside `object`; nested names are joined by underscores. Null makes no field. */
export function flatten(fields: Field[], object: JsonObject, prefix: string, source: string, options: FlattenOptions, depth = 1): void {
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined || value === null) continue;
    const name = prefix + snakeCase(key);
    if (typeof value === 'object' && !Array.isArray(value) && depth < MAX_DEPTH)
      flatten(fields, value, `${name}_`, `${source}${key}.`, options, depth + 1);
    else fields.push(fieldOf(name, source + key, value, options));
  }
}
function fieldOf(name: string, source: string, value: Exclude<Json, null>, { lists, plain }: FlattenOptions): Field {
  if (typeof value === 'object')
    return lists === 'json' ? { name, source, value } : { name, source, value: JSON.stringify(value), type: 'text' };
  return plain && typeof value === 'string' ? { name, source, value, type: 'text' } : { name, source, value };
}

export function timeField(name: string, ms: number): Field {
  return { name, source: name, value: isoTime(ms) };
}
