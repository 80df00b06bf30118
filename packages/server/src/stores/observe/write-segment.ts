/** Writes traces on SQLite: into the newest segment. */
import { hash } from 'node:crypto';
import { insertRows } from './insert-rows.ts';
import { keyOf } from './keys.ts';
import { keyOfEvent, type Tally, type TraceEventRow, type TraceStepRow } from './rows.ts';
import { listSegments, noteRows, openSegment, segmentColumns, segmentTable, textTable } from './segments.ts';
import type { Writer } from './writer.ts';

/** `events`: of the tally, each id once. */
export async function writeSegment(
  writer: Writer,
  events: readonly TraceEventRow[],
  { untraced, steps, stepsReceived, replacing }: Tally,
): Promise<void> {
  const added = [...events, ...(await withoutRow(writer, untraced))];
  for (const row of replacing) await removeEvent(writer, row);
  await addToSegment(writer, added, steps, stepsReceived);
}
/** Adds rows to the newest segment. */
export async function addToSegment(
  writer: Writer,
  events: readonly TraceEventRow[],
  steps: readonly TraceStepRow[],
  stepsReceived: Tally['stepsReceived'],
): Promise<void> {
  if (events.length + steps.length === 0) return;
  const segment = await openSegment(writer);
  const texts = new Map<string, { key: number; text: string }>();
  const rows = events.map((row) => {
    const id = `${row.org_id}\n${row.decisions}`;
    let entry = texts.get(id);
    if (entry === undefined) texts.set(id, (entry = { key: textKeyOf(id), text: row.decisions }));
    return { ...withKeys(row), decisions_key: entry.key };
  });
  await insertRows(writer, textTable(segment), TEXT_COLUMNS, [...texts.values()], 'on conflict (key) do nothing');
  await insertRows(writer, segmentTable('trace_events', segment), segmentColumns('trace_events'), rows);
  await insertRows(
    writer,
    segmentTable('trace_steps', segment),
    segmentColumns('trace_steps'),
    steps.map((row) => ({ ...row, event_key: keyOf(row.event_id) })),
  );
  await noteRows(writer, segment, {
    events: events.length,
    times: [...events.map((row) => row.processed_at), ...steps.map((row) => row.at)],
    received: events.map((row) => row.received_at),
    stepsReceived,
  });
}
const TEXT_COLUMNS: [name: string, type: string][] = [
  ['key', 'integer'],
  ['text', 'text'],
];
/** From SHA-256, because the text stands for all that hash to the same key. */
function textKeyOf(text: string): number {
  return Number.parseInt(hash('sha256', text).slice(0, 13), 16);
}
/** Rows of events that no segment has yet. */
async function withoutRow(writer: Writer, rows: readonly TraceEventRow[]): Promise<TraceEventRow[]> {
  if (rows.length === 0) return [];
  const keys = JSON.stringify(rows.map(({ event_id }) => keyOf(event_id)));
  const known = new Set<string>();
  for (const { id } of await listSegments(writer)) {
    const sql = `select pipeline_id, event_id from ${segmentTable('trace_events', id)} where event_key in (select value from json_each(?))`;
    for (const row of await writer.all<Pick<TraceEventRow, 'pipeline_id' | 'event_id'>>(sql, [keys])) known.add(keyOfEvent(row));
  }
  return rows.filter((row) => !known.has(keyOfEvent(row)));
}
/** The older rows of a repeated event may be in any segment. */
async function removeEvent(writer: Writer, { pipeline_id, event_id }: TraceEventRow): Promise<void> {
  for (const { id } of await listSegments(writer))
    await writer.run(`delete from ${segmentTable('trace_events', id)} where event_key = ? and pipeline_id = ? and event_id = ?`, [
      keyOf(event_id),
      pipeline_id,
      event_id,
    ]);
}
function withKeys(row: TraceEventRow) {
  const { event_id, user_id, anonymous_id } = row;
  return {
    ...row,
    event_key: keyOf(event_id),
    name_key: row.event === null ? null : keyOf(row.event),
    user_key: user_id === null ? null : keyOf(user_id),
    anonymous_key: anonymous_id === null ? null : keyOf(anonymous_id),
  };
}
