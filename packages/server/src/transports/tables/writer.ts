/**
 * Writes records to tables: events become rows (core/tables), unknown columns are added, values that fit no column move aside. The
 * columns of a table are read once and again after `SCHEMA_MS`, after a change, and when the destination disagrees.
 */
import type { Json, JsonObject } from '@firsthand/core/json.ts';
import { deepValue } from '@firsthand/core/shallow-json.ts';
import { LAYOUTS, type Layout, rowsOf } from '@firsthand/core/tables/layouts.ts';
import { fitName } from '@firsthand/core/tables/names.ts';
import { baseColumns, OVERFLOW, type Placed, schemaOf, TablePlacer, type TableSchema } from '@firsthand/core/tables/place.ts';
import type { TableKind, TableRow } from '@firsthand/core/tables/rows.ts';
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { turns } from '../../runtime/turns.ts';
import type { Transport } from '../port.ts';
import type { Load, RowFailure, StoreFailure, TableRef, TableStore } from './store.ts';

export interface TableSettings {
  layout: Layout;
  /** Of Segment's tables; the other layouts name it in the target. */
  schema: string | undefined;
  create: boolean;
  evolve: boolean;
  max_columns: number;
  max_tables: number;
}

/** `layout`, `schema`, `create_table`, `evolve`, `max_columns`, `max_tables`; absent ones have their defaults. */
export function readTableSettings(connection: Readonly<Record<string, string>>): TableSettings {
  const { layout, schema, create_table, evolve, max_columns, max_tables } = connection;
  return {
    layout: LAYOUTS.find((known) => known === layout) ?? 'payload',
    schema: schema || undefined,
    create: create_table === 'true',
    evolve: evolve !== 'false',
    max_columns: Number(max_columns || 500),
    max_tables: Number(max_tables || 1_000),
  };
}

const SCHEMA_MS = 300_000;
/** Two processes may add columns at the same time; each reads the table again after its own. */
const EVOLVE_TRIES = 4;

interface Known {
  schema: TableSchema;
  until: number;
  /** This user may not add columns. */
  fixed: boolean;
}
/** The rows of one table in a batch. */
interface Group {
  table: TableRef;
  kind: TableKind;
  /** By key: a table cannot take one row twice in a statement. */
  rows: Map<string, { row: TableRow; record: number }>;
}

export function openTables(store: TableStore, settings: TableSettings): Transport {
  const writer = new TableWriter(store, settings);
  return { send: (records, { timeout_ms }) => writer.send(records, performance.now() + timeout_ms), close: () => store.close() };
}

class TableWriter {
  readonly #store: TableStore;
  readonly #settings: TableSettings;
  readonly #known = new Map<string, Known>();
  #tableCount: { count: number; until: number } | undefined;

  constructor(store: TableStore, settings: TableSettings) {
    this.#store = store;
    this.#settings = settings;
  }

  async send(records: readonly TransportRecord[], deadline: number): Promise<Verdict> {
    for (let again = false; ; again = true) {
      try {
        const groups = await this.#group(records, deadline);
        const loads: Load[] = [];
        for (const group of groups) loads.push(await this.#prepare(group, deadline));
        const failures = await this.#store.write(loads, deadline);
        return failures.length === 0 ? { kind: 'delivered' } : partial(records.length, failures);
      } catch (error) {
        const failure = error instanceof Unplaced ? ({ kind: 'never', reason: error.message } as const) : this.#store.failure(error);
        if (failure.kind !== 'schema' || again) return verdictOf(failure, records.length);
        this.#known.clear();
      }
    }
  }

  async #group(records: readonly TransportRecord[], deadline: number): Promise<Group[]> {
    const { layout, schema } = this.#settings;
    const groups = new Map<string, Group>();
    for (const [record, one] of records.entries()) {
      const turn = turns.next();
      if (turn !== undefined) await turn;
      for (const row of rowsOf(one, layout, one.target)) {
        let group = groups.get(row.table);
        if (!group) groups.set(row.table, (group = { table: this.#refOf(row.table, schema), kind: row.kind, rows: new Map() }));
        const before = group.rows.get(row.id);
        group.rows.set(row.id, { row: before && row.kind.latest ? newest(before.row, row) : row, record });
      }
    }
    return this.#withinTableLimit([...groups.values()], deadline);
  }
  /** A target may be `schema.table`; the names of Segment's tables have no dot. */
  #refOf(table: string, schema: string | undefined): TableRef {
    const { tables } = this.#store.dialect;
    const dot = table.indexOf('.');
    if (dot < 0) return { schema, name: fitName(table, tables) };
    return { schema: table.slice(0, dot), name: fitName(table.slice(dot + 1), tables) };
  }

  /** Above the limit a new event gets no table: its properties go to the overflow of `tracks`. */
  async #withinTableLimit(groups: Group[], deadline: number): Promise<Group[]> {
    const { layout, create, max_tables } = this.#settings;
    if (layout !== 'segment' || !create) return groups;
    const tracks = groups.find(({ table }) => table.name.toLowerCase() === 'tracks');
    const kept: Group[] = [];
    for (const group of groups) {
      const isEventTable = tracks !== undefined && group !== tracks && group.kind === tracks.kind;
      if (!isEventTable || (await this.#schema(group.table, deadline)) || (await this.#tables(deadline)) < max_tables) {
        kept.push(group);
        continue;
      }
      for (const [id, { row }] of group.rows) {
        const track = tracks.rows.get(id);
        if (track) track.row = { ...track.row, fields: [...track.row.fields, overflowOf(row)] };
      }
    }
    return kept;
  }
  async #tables(deadline: number): Promise<number> {
    if (!this.#tableCount || this.#tableCount.until < performance.now())
      this.#tableCount = { count: await this.#store.countTables(this.#settings.schema, deadline), until: performance.now() + SCHEMA_MS };
    return this.#tableCount.count;
  }

  async #prepare({ table, kind, rows }: Group, deadline: number): Promise<Load> {
    let known = (await this.#schema(table, deadline)) ?? (await this.#create(table, kind, deadline));
    let placed: Placed | undefined;
    for (let tries = 0; tries < EVOLVE_TRIES; tries++) {
      placed = await this.#place(rows, kind, known);
      if (placed.add.length === 0) break;
      try {
        await this.#store.addColumns(table, placed.add, deadline);
      } catch (error) {
        if (this.#store.failure(error).kind !== 'denied') throw error;
        known.fixed = true;
        continue;
      }
      known = (await this.#read(table, deadline)) ?? known;
    }
    if (!placed || placed.add.length > 0) throw new Error(`the columns of ${table.name} change too often`);
    if (placed.unplaced !== undefined) throw new Unplaced(table, placed.unplaced);
    return { table, kind, columns: placed.columns, rows: placed.rows, records: [...rows.values()].map(({ record }) => record) };
  }
  async #place(rows: Group['rows'], kind: TableKind, { schema, fixed }: Known): Promise<Placed> {
    const { evolve, max_columns } = this.#settings;
    const placer = new TablePlacer(schema, kind, { dialect: this.#store.dialect, max_columns, evolve: evolve && !fixed });
    for (const { row } of rows.values()) {
      const turn = turns.next();
      if (turn !== undefined) await turn;
      placer.add(row);
    }
    return placer.placed;
  }

  async #schema(table: TableRef, deadline: number): Promise<Known | undefined> {
    const known = this.#known.get(keyOf(table));
    return known && known.until > performance.now() ? known : this.#read(table, deadline);
  }
  async #read(table: TableRef, deadline: number): Promise<Known | undefined> {
    const { dialect } = this.#store;
    const columns = await this.#store.describe(table, deadline);
    if (!columns) return undefined;
    const known = { schema: schemaOf(columns, dialect), until: performance.now() + SCHEMA_MS, fixed: false };
    this.#known.set(keyOf(table), known);
    return known;
  }
  async #create(table: TableRef, kind: TableKind, deadline: number): Promise<Known> {
    const { dialect } = this.#store;
    if (!this.#settings.create) throw new Unplaced(table);
    await this.#store.create(table, kind, baseColumns(kind, dialect), deadline);
    if (this.#tableCount) this.#tableCount.count++;
    const known = await this.#read(table, deadline);
    if (!known) throw new Error(`the table ${table.name} was created and cannot be seen`);
    return known;
  }
}

class Unplaced extends Error {
  constructor({ schema, name }: TableRef, column?: string) {
    const table = schema === undefined ? name : `${schema}.${name}`;
    super(column === undefined ? `there is no table ${table}` : `the table ${table} has no column for ${column} and may not be changed`);
  }
}

function keyOf({ schema, name }: TableRef): string {
  return `${schema ?? ''}.${name}`;
}

/** The newer values over the older ones; of equal age the later in the batch. */
function newest(a: TableRow, b: TableRow): TableRow {
  const time = ({ fields }: TableRow) => String(fields.find(({ name }) => name === 'received_at')?.value ?? '');
  const [older, newer] = time(a) <= time(b) ? [a, b] : [b, a];
  const names = new Set(newer.fields.map(({ name }) => name));
  return { ...newer, fields: [...older.fields.filter(({ name }) => !names.has(name)), ...newer.fields] };
}

function overflowOf({ kind, fields }: TableRow): TableRow['fields'][number] {
  const own = fields.filter(({ name, source }) => !Object.hasOwn(kind.base, name) && !source.startsWith('context.'));
  const value: JsonObject = Object.fromEntries(own.map(({ name, value: one }): [string, Json] => [name, deepValue(one)]));
  return { name: OVERFLOW, source: OVERFLOW, value, type: 'json' };
}

function verdictOf({ kind, reason, retry_after_ms }: StoreFailure, count: number): Verdict {
  if (kind === 'row' && count > 1) return { kind: 'unavailable', reason, isolate: true };
  if (kind === 'row' || kind === 'never') return { kind: 'refused', reason };
  return { kind: 'unavailable', reason, ...(retry_after_ms === undefined ? {} : { retry_after_ms }) };
}

/** An event with several rows has the worst of their verdicts. */
function partial(count: number, failures: RowFailure[]): Verdict {
  const items: Exclude<Verdict, { kind: 'partial' }>[] = Array.from({ length: count }, () => ({ kind: 'delivered' }));
  for (const { record, verdict } of failures) if (items[record]?.kind !== 'refused') items[record] = verdict;
  return { kind: 'partial', items };
}
