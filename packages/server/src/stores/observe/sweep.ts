/** Removes rows past their age, a slice at a time: a busy minute leaves more behind than one transaction should hold up. */
import { type RawBuilder, sql } from 'kysely';
import type { ObserveDb } from './schema.ts';

/** Rows older than these go; milliseconds since 1970. */
export interface RowAges {
  traces: number;
  counters: number;
  deadLetters: number;
}
/** Traces beyond this many events go, oldest first, whatever their age: a bound on the size of the store. */
const MOST_TRACES = 5_000_000;
const SLICE = 2_000;

interface Aged {
  table: string;
  key: string;
  /** A condition that an index answers. */
  old: RawBuilder<unknown>;
}

function agedRows(engine: ObserveDb['engine'], ages: RowAges): Aged[] {
  // Rows without a key of their own are named by where they lie.
  const place = engine === 'postgres' ? 'ctid' : 'rowid';
  return [
    { table: 'trace_events', key: '(pipeline_id, event_id)', old: sql`processed_at < ${ages.traces}` },
    { table: 'trace_steps', key: place, old: sql`at < ${ages.traces}` },
    { table: 'dead_letters', key: 'id', old: sql`expires_at <= ${ages.deadLetters}` },
    {
      table: 'counters',
      key: '(org_id, pipeline_id, integration_id, minute, counter)',
      old: sql`minute < ${Math.floor(ages.counters / 60_000)}`,
    },
  ];
}

/** Whether there is anything to do: cheap, and the usual answer of a quiet service is no. */
export async function hasAgedRows({ db, engine }: ObserveDb, ages: RowAges): Promise<boolean> {
  for (const { table, old } of agedRows(engine, ages)) {
    const { rows } = await sql`select 1 from ${sql.raw(table)} where ${old} limit 1`.execute(db);
    if (rows.length > 0) return true;
  }
  return (await edgeOfMost({ db, engine })) !== undefined;
}

export async function sweepRows(observe: ObserveDb, ages: RowAges): Promise<number> {
  const edge = await edgeOfMost(observe);
  const traces = Math.max(ages.traces, edge === undefined ? ages.traces : edge + 1);
  let removed = 0;
  for (const { table, key, old } of agedRows(observe.engine, { ...ages, traces })) {
    const columns = sql.raw(key.replace(/^\(|\)$/g, ''));
    for (let slice = SLICE; slice === SLICE; removed += slice) {
      const result = await observe.db
        .transaction()
        .execute((tx) =>
          sql`delete from ${sql.raw(table)} where ${sql.raw(key)} in (select ${columns} from ${sql.raw(table)} where ${old} limit ${SLICE})`.execute(
            tx,
          ),
        );
      slice = Number(result.numAffectedRows ?? 0);
    }
  }
  return removed;
}

/** When the newest event was processed that is one too many. */
async function edgeOfMost({ db }: ObserveDb): Promise<number | undefined> {
  const edge = await db
    .selectFrom('trace_events')
    .select('processed_at')
    .orderBy('processed_at', 'desc')
    .offset(MOST_TRACES)
    .limit(1)
    .executeTakeFirst();
  return edge && Number(edge.processed_at);
}
