/** Removes expired rows in slices: removing a busy minute's rows at once would block other writers for too long. */
import { adoptRows } from './adopt.ts';
import { dropSegment, listSegments, type Segment, segmentTable } from './segments.ts';
import { EARLIER_TRACES } from './tables.ts';
import type { Writer } from './writer.ts';

/** Rows older than these times are removed; milliseconds since 1970. */
export interface RowAges {
  traces: number;
  counters: number;
  deadLetters: number;
  /** Pipelines whose traces have a retention of their own. */
  pipelines: PipelineAge[];
  /** In SQLite, single rows are removed this much later. Meanwhile their whole segment may expire, and dropping that is cheap. */
  graceMs: number;
}
export interface PipelineAge {
  org_id: string;
  pipeline_id: string;
  before: number;
}
export interface Swept {
  removed: number;
  /** Rows of an earlier version, moved to where this version reads them. */
  adopted: number;
  /** Still there: pass them to the next call once the removal of their raw records is stored. */
  expiring: ExpiringTrace[];
}
/** An expired trace of a pipeline whose retention is shorter than that of the ingest topics: it alone says where its raw record is. */
export interface ExpiringTrace {
  pipeline_id: string;
  event_id: string;
  raw_topic: string | null;
  raw_position: string | null;
  /** SQLite: the segment and the row in it. */
  place?: { segment: number; row: number };
}
/** Traces of more events than this are removed, oldest first, whatever their age. Bounds the size of the store. */
const MOST_TRACES = 50_000_000;
const SLICE = 2_000;

/** Removes some of them. Call until it removes, adopts and finds nothing. `queued`: the expiring traces of the call before. */
export async function sweepRows(writer: Writer, ages: RowAges, queued: readonly ExpiringTrace[] = []): Promise<Swept> {
  const swept: Swept = { removed: 0, adopted: 0, expiring: [] };
  const minute = Math.floor(ages.counters / 60_000);
  swept.removed += await removeSome(writer, 'dead_letters', 'id', 'expires_at <= ?', [ages.deadLetters]);
  swept.removed += await removeSome(writer, 'counters', 'org_id, pipeline_id, integration_id, minute, counter', 'minute < ?', [minute]);
  if (writer.engine === 'sqlite') {
    swept.adopted = await adoptRows(writer);
    if (queued.length > 0) swept.removed += await removeFromSegments(writer, queued);
    await sweepSegments(writer, ages, swept);
  } else {
    if (queued.length > 0) swept.removed += await removeFromTables(writer, queued);
    await sweepTables(writer, ages, swept);
  }
  return swept;
}

/** Others keep their raw records for longer than their traces. */
function hasOwnRawAge({ before }: PipelineAge, ages: RowAges): boolean {
  return before > ages.traces;
}

function removeSome(writer: Writer, table: string, key: string, old: string, parameters: unknown[]): Promise<number> {
  return writer.run(`delete from ${table} where (${key}) in (select ${key} from ${table} where ${old} limit ${SLICE})`, parameters);
}

async function sweepSegments(writer: Writer, ages: RowAges, swept: Swept): Promise<void> {
  const segments = await listSegments(writer);
  const total = segments.reduce((sum, { events }) => sum + events, 0);
  const keptFrom = Math.min(ages.traces, ...ages.pipelines.map(({ before }) => before));
  const [oldest] = segments;
  // The newest segment stays: it takes the next rows.
  const expired =
    segments.slice(0, -1).find(({ last_at }) => (last_at ?? 0) < keptFrom) ??
    (oldest !== undefined && segments.length > 1 && total - oldest.events >= MOST_TRACES ? oldest : undefined);
  if (expired !== undefined) {
    await dropSegment(writer, expired.id);
    swept.removed += Math.max(1, expired.events);
    return;
  }
  const own = JSON.stringify(ages.pipelines.map(({ pipeline_id }) => pipeline_id));
  for (const [i, segment] of segments.entries()) {
    if (segment.first_at !== null && segment.first_at < ages.traces - ages.graceMs)
      swept.removed += await sweepSegment(writer, segment, ages.traces, own);
    for (const age of ages.pipelines) {
      if (hasOwnRawAge(age, ages)) swept.expiring.push(...(await expiringIn(writer, segment, age, SLICE - swept.expiring.length)));
      else swept.removed += await sweepPipeline(writer, segments.slice(i, i + 2), age);
    }
    if (swept.removed >= SLICE || swept.expiring.length >= SLICE) return;
  }
}

/** Rows are nearly in the order of processing, so the oldest are found without an index. */
async function sweepSegment(writer: Writer, { id }: Segment, before: number, own: string): Promise<number> {
  let removed = 0;
  for (const [kind, time] of [
    ['trace_events', 'processed_at'],
    ['trace_steps', 'at'],
  ] as const) {
    const old = `${time} < ? and pipeline_id not in (select value from json_each(?)) order by rowid`;
    removed = Math.max(removed, await removeSome(writer, segmentTable(kind, id), 'rowid', old, [before, own]));
  }
  if (removed < SLICE) await writer.run('update trace_segments set first_at = ? where id = ?', [before, id]);
  return removed;
}

const EXPIRED = 'org_id = ? and pipeline_id = ? and received_at < ? and processed_at < ?';
function expired({ org_id, pipeline_id, before }: PipelineAge): unknown[] {
  return [org_id, pipeline_id, before, before];
}

/** `segments`: the one to sweep, and the one after it. */
async function sweepPipeline(writer: Writer, segments: readonly Segment[], age: PipelineAge): Promise<number> {
  const [segment] = segments;
  if (segment === undefined) return 0;
  const table = segmentTable('trace_events', segment.id);
  return await writer.transaction(async (tx) => {
    const gone = await tx.all<EventKey>(
      `delete from ${table} where rowid in (select rowid from ${table} where ${EXPIRED} limit ${SLICE}) returning event_key, pipeline_id`,
      expired(age),
    );
    await removeSteps(tx, segments, gone);
    return gone.length;
  });
}

async function expiringIn(writer: Writer, { id }: Segment, age: PipelineAge, limit: number): Promise<ExpiringTrace[]> {
  const rows = await writer.all<Omit<ExpiringTrace, 'place'> & { row: number }>(
    `select rowid as row, pipeline_id, event_id, raw_topic, raw_position from ${segmentTable('trace_events', id)} where ${EXPIRED} limit ${limit}`,
    expired(age),
  );
  return rows.map(({ row, ...trace }) => ({ ...trace, place: { segment: id, row } }));
}

async function removeFromSegments(writer: Writer, traces: readonly ExpiringTrace[]): Promise<number> {
  const segments = await listSegments(writer);
  let removed = 0;
  for (const [i, { id }] of segments.entries()) {
    const rows = traces.flatMap(({ place, event_id, raw_position }) =>
      place?.segment === id ? [[place.row, event_id, raw_position ?? '']] : [],
    );
    if (rows.length === 0) continue;
    removed += await writer.transaction(async (tx) => {
      // A repeat of an event replaces its row, and the new one may have the same number.
      const gone = await tx.all<EventKey>(
        `delete from ${segmentTable('trace_events', id)} where rowid in (select value->>0 from json_each(?1))
          and (rowid, event_id, coalesce(raw_position, '')) in (select value->>0, value->>1, value->>2 from json_each(?1))
          returning event_key, pipeline_id`,
        [JSON.stringify(rows)],
      );
      await removeSteps(tx, segments.slice(i, i + 2), gone);
      return gone.length;
    });
  }
  return removed;
}

interface EventKey {
  event_key: number;
  pipeline_id: string;
}
/** `segments`: that of the events, and the one after it, where their last steps may be. */
async function removeSteps(tx: Writer, segments: readonly Segment[], events: readonly EventKey[]): Promise<void> {
  for (const [pipeline_id, own] of Map.groupBy(events, (event) => event.pipeline_id)) {
    const keys = JSON.stringify(own.map(({ event_key }) => event_key));
    for (const { id } of segments)
      await tx.run(
        `delete from ${segmentTable('trace_steps', id)} where event_key in (select value from json_each(?)) and pipeline_id = ?`,
        [keys, pipeline_id],
      );
  }
}

async function sweepTables(writer: Writer, ages: RowAges, swept: Swept): Promise<void> {
  const own = ages.pipelines.map(({ pipeline_id }) => pipeline_id);
  const others = own.length === 0 ? '' : ' and not (pipeline_id = any(?))';
  const parameters = (before: number) => (own.length === 0 ? [before] : [before, own]);
  const edge = await edgeOfMost(writer);
  const before = edge === undefined ? ages.traces : Math.max(ages.traces, edge + 1);
  swept.removed += await removeSome(writer, 'trace_events', 'pipeline_id, event_id', `processed_at < ?${others}`, parameters(before));
  // Rows without a primary key are identified by their physical location.
  swept.removed += await removeSome(writer, EARLIER_TRACES, 'ctid', `processed_at < ?${others}`, parameters(before));
  swept.removed += await removeSome(writer, 'trace_steps', 'ctid', `at < ?${others}`, parameters(before));
  for (const age of ages.pipelines) {
    const limit = SLICE - swept.expiring.length;
    const select = `select pipeline_id, event_id, raw_topic, raw_position from`;
    const found = await writer.all<ExpiringTrace>(
      `${select} trace_events where ${EXPIRED} union all ${select} ${EARLIER_TRACES} where ${EXPIRED} limit ${limit}`,
      [...expired(age), ...expired(age)],
    );
    if (hasOwnRawAge(age, ages)) swept.expiring.push(...found);
    else if (found.length > 0) swept.removed += await removeFromTables(writer, found);
  }
}

async function removeFromTables(writer: Writer, traces: readonly ExpiringTrace[]): Promise<number> {
  const rows = traces.map(({ pipeline_id, event_id, raw_position }) => [pipeline_id, event_id, raw_position ?? '']);
  return await writer.transaction(async (tx) => {
    const removeFrom = (table: string) =>
      tx.all<{ pipeline_id: string; event_id: string }>(
        `delete from ${table} using (select value->>0 as pipeline, value->>1 as event, value->>2 as raw from json_array_elements(?::json)) as old
          where pipeline_id = pipeline and event_id = old.event and coalesce(raw_position, '') = raw
          returning pipeline_id, event_id`,
        [JSON.stringify(rows)],
      );
    const earlier = await removeFrom(EARLIER_TRACES);
    const gone = await removeFrom('trace_events');
    for (const [pipeline_id, own] of Map.groupBy(gone, (row) => row.pipeline_id))
      await tx.run('delete from trace_steps where pipeline_id = ? and event_id = any(?)', [
        pipeline_id,
        own.map(({ event_id }) => event_id),
      ]);
    return earlier.length + gone.length;
  });
}

/** Processing time of the newest event beyond the limit. Counts only where PostgreSQL's own estimate is near the limit. */
async function edgeOfMost(writer: Writer): Promise<number | undefined> {
  const [size] = await writer.all<{ n: number }>("select reltuples::bigint as n from pg_class where oid = 'trace_events'::regclass");
  if (Number(size?.n ?? 0) < MOST_TRACES * 0.9) return undefined;
  const [edge] = await writer.all<{ processed_at: number }>(
    `select processed_at from trace_events order by processed_at desc limit 1 offset ${MOST_TRACES}`,
  );
  return edge && Number(edge.processed_at);
}
