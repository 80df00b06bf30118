/** Removes expired rows in slices: removing a busy minute's rows at once would block other writers for too long. */
import { adoptRows } from './adopt.ts';
import { dropSegment, listSegments, type Segment, segmentTable } from './segments.ts';
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
  /** Positions of the raw records of removed traces, for pipelines with a retention of their own. */
  raw: { topic: string; position: string; pipeline_id: string; event_id: string }[];
}
/** Traces of more events than this are removed, oldest first, whatever their age. Bounds the size of the store. */
const MOST_TRACES = 50_000_000;
const SLICE = 2_000;

/** Removes some of them. Call until it removes and adopts nothing. */
export async function sweepRows(writer: Writer, ages: RowAges): Promise<Swept> {
  const swept: Swept = { removed: 0, adopted: 0, raw: [] };
  const minute = Math.floor(ages.counters / 60_000);
  swept.removed += await removeSome(writer, 'dead_letters', 'id', 'expires_at <= ?', [ages.deadLetters]);
  swept.removed += await removeSome(writer, 'counters', 'org_id, pipeline_id, integration_id, minute, counter', 'minute < ?', [minute]);
  if (writer.engine === 'sqlite') {
    swept.adopted = await adoptRows(writer);
    await sweepSegments(writer, ages, swept);
  } else await sweepTables(writer, ages, swept);
  return swept;
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
      const { removed, raw } = await sweepPipeline(writer, segments.slice(i, i + 2), age);
      swept.removed += removed;
      if (age.before > ages.traces) swept.raw.push(...raw);
    }
    if (swept.removed >= SLICE) return;
  }
}

/** Rows stand in the order of processing, nearly: the oldest are found without an index. */
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

/** `segments`: the one to sweep, and the one after it, where the last steps of its events may be. */
async function sweepPipeline(
  writer: Writer,
  segments: readonly Segment[],
  { org_id, pipeline_id, before }: PipelineAge,
): Promise<{ removed: number; raw: Swept['raw'] }> {
  const [segment] = segments;
  if (segment === undefined) return { removed: 0, raw: [] };
  const table = segmentTable('trace_events', segment.id);
  return await writer.transaction(async (tx) => {
    const gone = await tx.all<RawPlace & { event_key: number }>(
      `delete from ${table} where rowid in (select rowid from ${table}
        where org_id = ? and pipeline_id = ? and received_at < ? and processed_at < ? limit ${SLICE})
        returning event_key, event_id, raw_topic, raw_position`,
      [org_id, pipeline_id, before, before],
    );
    if (gone.length > 0)
      for (const { id } of segments)
        await tx.run(
          `delete from ${segmentTable('trace_steps', id)} where event_key in (select value from json_each(?)) and pipeline_id = ?`,
          [JSON.stringify(gone.map(({ event_key }) => event_key)), pipeline_id],
        );
    return { removed: gone.length, raw: placesOf(pipeline_id, gone) };
  });
}

async function sweepTables(writer: Writer, ages: RowAges, swept: Swept): Promise<void> {
  const own = ages.pipelines.map(({ pipeline_id }) => pipeline_id);
  const others = own.length === 0 ? '' : ' and not (pipeline_id = any(?))';
  const parameters = (before: number) => (own.length === 0 ? [before] : [before, own]);
  const edge = await edgeOfMost(writer);
  const before = edge === undefined ? ages.traces : Math.max(ages.traces, edge + 1);
  swept.removed += await removeSome(writer, 'trace_events', 'pipeline_id, event_id', `processed_at < ?${others}`, parameters(before));
  // Rows without a primary key are identified by their physical location.
  swept.removed += await removeSome(writer, 'trace_steps', 'ctid', `at < ?${others}`, parameters(before));
  for (const age of ages.pipelines) {
    const gone = await writer.all<RawPlace>(
      `delete from trace_events where (pipeline_id, event_id) in (select pipeline_id, event_id from trace_events
        where org_id = ? and pipeline_id = ? and received_at < ? and processed_at < ? limit ${SLICE})
        returning event_id, raw_topic, raw_position`,
      [age.org_id, age.pipeline_id, age.before, age.before],
    );
    if (gone.length === 0) continue;
    await writer.run('delete from trace_steps where pipeline_id = ? and event_id = any(?)', [
      age.pipeline_id,
      gone.map(({ event_id }) => event_id),
    ]);
    swept.removed += gone.length;
    if (age.before > ages.traces) swept.raw.push(...placesOf(age.pipeline_id, gone));
  }
}

interface RawPlace {
  event_id: string;
  raw_topic: string | null;
  raw_position: string | null;
}
function placesOf(pipeline_id: string, rows: readonly RawPlace[]): Swept['raw'] {
  return rows.flatMap(({ event_id, raw_topic, raw_position }) =>
    raw_topic === null || raw_position === null ? [] : [{ topic: raw_topic, position: raw_position, pipeline_id, event_id }],
  );
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
