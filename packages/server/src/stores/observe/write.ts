import { hash } from 'node:crypto';
import { idText } from '@firsthand/core/event/canonicalise.ts';
import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import { keyOf } from './keys.ts';
import type { CounterRow, Tally, TraceEventRow, TraceStepRow } from './rows.ts';
import { listSegments, noteRows, openSegment, segmentColumns, segmentTable, textTable } from './segments.ts';
import { type DeadLetterRow, type HealthRow, type ObserveTables, TABLES } from './tables.ts';
import type { Writer } from './writer.ts';

/** The topic of an embedded log. Each topic has its own position. */
const RECORDER = 'outcomes';
/** Limit of stored rejections: webhooks per source, events per pipeline. Further ones are only counted. */
const MOST_REJECTED = 1_000;
/** SQLite requires a limit before an offset. */
const MAX_REMOVED = 1_000_000;

export async function readPosition(writer: Writer, topic = RECORDER): Promise<string> {
  const [row] = await writer.all<{ position: string }>('select position from recorder where name = ?', [topic]);
  return row?.position ?? '';
}

/**
 * Writes one batch and its log position in one transaction. `after`: the position that this recorder has read. False, and nothing is
 * written, if another one has recorded since: a process that was frozen may continue beside its successor. Several tallies on SQLite only:
 * the rows that PostgreSQL locks have to be sorted as a whole.
 */
export function writeTally(writer: Writer, tallies: Iterable<Tally>, position: string, topic = RECORDER, after?: string): Promise<boolean> {
  return writer.transaction(async (tx) => {
    if (!(await movePosition(tx, topic, position, after))) return false;
    for (const tally of tallies) await writeRows(tx, tally);
    return true;
  });
}

/** A topic's position before and after a batch. */
export interface Move {
  topic: string;
  after: string;
  position: string;
}
class MovedByAnother extends Error {}

/**
 * Like `writeTally`, for batches of several topics that were recorded before, on PostgreSQL. With eight topics it saves a third of the CPU
 * that a transaction for each takes.
 */
export async function writeTogether(writer: Writer, tally: Tally, moves: readonly Move[]): Promise<boolean> {
  try {
    await writer.transaction(async (tx) => {
      if (!(await movePositions(tx, moves))) throw new MovedByAnother();
      await writeRows(tx, tally);
    });
    return true;
  } catch (error) {
    if (error instanceof MovedByAnother) return false;
    throw error;
  }
}

/**
 * Rows that another recorder may update at the same time are sorted, so that both lock them in the same order. SQLite has one recorder, and
 * keeps traces in the order of processing for retention.
 */
async function writeRows(tx: Writer, tally: Tally): Promise<void> {
  // For a repeated id (a replay, or the same messageId after the deduplication window) the newest row wins.
  const events = lastOf(tally.events, keyOfEvent);
  if (tx.engine === 'sqlite') await writeSegment(tx, [...events, ...(await withoutRow(tx, tally.untraced))], tally);
  else {
    await insertRows(tx, 'trace_events', columnsOf('trace_events'), sorted(events, keyOfEvent), REPLACE_EVENT);
    await insertRows(
      tx,
      'trace_events',
      columnsOf('trace_events'),
      sorted(tally.untraced, keyOfEvent),
      'on conflict (pipeline_id, event_id) do nothing',
    );
    await insertRows(tx, 'trace_steps', columnsOf('trace_steps'), tally.steps);
  }
  await insertRows(tx, 'counters', columnsOf('counters'), sorted(tally.counters, keyOfCounter), ADD_COUNTER);
  await insertRows(
    tx,
    'integration_health',
    columnsOf('integration_health'),
    sorted(healthOf([...tally.untracedSuccess, ...tally.lastReceived, ...tally.steps]), ({ integration_id }) => integration_id),
    KEEP_NEWER_HEALTH,
  );
  await insertDeadLetters(tx, tally.deadLetters);
  await trimRejectedEvents(tx, tally.deadLetters);
}
/** Locks the row, so that a second recorder of the topic waits here for the transaction of the first. */
async function movePosition(writer: Writer, topic: string, position: string, after: string | undefined): Promise<boolean> {
  const insert = 'insert into recorder (name, position) values (?, ?) on conflict (name)';
  if (after === undefined) return (await writer.run(`${insert} do update set position = excluded.position`, [topic, position])) > 0;
  if (after === '') return (await writer.run(`${insert} do nothing`, [topic, position])) > 0;
  return (await writer.run('update recorder set position = ? where name = ? and position = ?', [position, topic, after])) > 0;
}
/** False unless all of them were at `after`. */
async function movePositions(writer: Writer, moves: readonly Move[]): Promise<boolean> {
  const moved = await writer.run(
    `update recorder set position = move.position from unnest(?::text[], ?::text[], ?::text[]) as move (name, after, position)
      where recorder.name = move.name and recorder.position = move.after`,
    [moves.map(({ topic }) => topic), moves.map(({ after }) => after), moves.map(({ position }) => position)],
  );
  return moved === moves.length;
}

async function writeSegment(writer: Writer, events: readonly TraceEventRow[], { steps, stepsReceived, replacing }: Tally): Promise<void> {
  for (const row of replacing) await removeEvent(writer, row);
  await addToSegment(writer, events, steps, stepsReceived);
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
const columnsOf = (table: keyof ObserveTables) => Object.entries(TABLES[table].columns);

/** SQLite takes rows one by one: reading the values from JSON costs four times as much as binding them. */
async function insertRows(
  writer: Writer,
  table: string,
  columns: readonly [name: string, type: string][],
  rows: readonly object[],
  onConflict = '',
): Promise<void> {
  if (rows.length === 0) return;
  const names = columns.map(([name]) => name);
  const cell = (row: object, name: string) => ((row as Record<string, unknown>)[name] ?? null) as Value;
  const insert = `insert into ${table} (${names.join(', ')})`;
  if (writer.engine === 'sqlite') {
    const values = rows.map((row) => names.map((name) => cell(row, name)));
    return await writer.runEach(`${insert} values (${names.map(() => '?').join(', ')}) ${onConflict}`, values);
  }
  const values = columns.map(([name, type]) => ({ name, type, values: rows.map((row) => cell(row, name)) }));
  const { sql, parameters } = selectRows(values);
  await writer.run(`${insert} ${sql} ${onConflict}`, parameters);
}
type Value = string | number | null;

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

const ADD_COUNTER = 'on conflict (org_id, pipeline_id, integration_id, minute, counter) do update set n = counters.n + excluded.n';
const REPLACE_EVENT = `on conflict (pipeline_id, event_id) do update set ${Object.keys(TABLES.trace_events.columns)
  .filter((name) => !['org_id', 'pipeline_id', 'event_id'].includes(name))
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')}`;
const KEEP_NEWER_HEALTH = `on conflict (integration_id) do update set
  last_success_at = coalesce(excluded.last_success_at, integration_health.last_success_at),
  last_error = coalesce(excluded.last_error, integration_health.last_error),
  last_error_at = coalesce(excluded.last_error_at, integration_health.last_error_at)`;

const keyOfEvent = (row: Pick<TraceEventRow, 'pipeline_id' | 'event_id'>) => `${row.pipeline_id}\n${row.event_id}`;
const keyOfCounter = (row: CounterRow) => `${row.pipeline_id}\n${row.integration_id}\n${row.minute}\n${row.counter}`;
function sorted<T>(rows: readonly T[], keyOf: (row: T) => string): T[] {
  return rows
    .map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ row }) => row);
}
function lastOf<T>(rows: T[], keyOf: (row: T) => string): T[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

function healthOf(steps: TraceStepRow[]): HealthRow[] {
  const health = new Map<string, HealthRow>();
  for (const step of steps) {
    if (step.kind === 'dropped') continue;
    let row = health.get(step.integration_id);
    if (!row)
      health.set(
        step.integration_id,
        (row = { integration_id: step.integration_id, last_success_at: null, last_error: null, last_error_at: null }),
      );
    if (step.kind === 'delivered') row.last_success_at = step.at;
    else {
      row.last_error = step.reason ?? (step.status === null ? 'failed' : `http_${step.status}`);
      row.last_error_at = step.at;
    }
  }
  return [...health.values()];
}

/** One statement each: there are few, and their events are bytes, which JSON cannot carry. */
async function insertDeadLetters(writer: Writer, letters: DeadLetter[]): Promise<void> {
  const names = Object.keys(TABLES.dead_letters.columns) as (keyof DeadLetterRow)[];
  const insert = `insert into dead_letters (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) on conflict (id) do nothing`;
  for (const letter of letters) {
    const row = deadLetterRow(letter);
    await writer.run(
      insert,
      names.map((name) => row[name]),
    );
  }
  for (const source of new Set(letters.map((letter) => letter.webhook_source_id)))
    if (source !== null)
      await writer.run(
        `delete from dead_letters where webhook_source_id = ? and stage = 'webhook' and id not in
          (select id from dead_letters where webhook_source_id = ? and stage = 'webhook' order by created_at desc, id desc limit ?)`,
        [source, source, MOST_REJECTED],
      );
}

/** Removes the oldest rejected events beyond the limit. They stay counted, as `rejected_dropped`. */
async function trimRejectedEvents(writer: Writer, letters: DeadLetter[]): Promise<void> {
  const newest = new Map<string, DeadLetter>();
  for (const letter of letters) if (letter.stage === 'ingest') newest.set(letter.pipeline_id, letter);
  for (const { org_id, pipeline_id, created_at } of newest.values()) {
    const removed = await writer.run(
      `delete from dead_letters where pipeline_id = ? and stage = 'ingest' and id in
        (select id from dead_letters where pipeline_id = ? and stage = 'ingest' order by created_at desc, id desc limit ? offset ?)`,
      [pipeline_id, pipeline_id, MAX_REMOVED, MOST_REJECTED],
    );
    if (removed === 0) continue;
    const minute = Math.floor(Date.parse(created_at) / 60_000);
    const row = { org_id, pipeline_id, integration_id: '', minute, counter: 'rejected_dropped', n: removed };
    await insertRows(writer, 'counters', columnsOf('counters'), [row], ADD_COUNTER);
  }
}

function deadLetterRow(letter: DeadLetter): DeadLetterRow {
  const { event, attempts, created_at, expires_at, event_id, reason, raw, ...rest } = letter;
  const ids = idsOf(event);
  return {
    ...rest,
    event_id: text(event_id) ?? '',
    reason: text(reason) ?? '',
    user_id: text(ids.user_id),
    anonymous_id: text(ids.anonymous_id),
    event: Buffer.from(JSON.stringify(event)),
    attempts: JSON.stringify(attempts),
    status: 'pending',
    created_at: Date.parse(created_at),
    expires_at: Date.parse(expires_at),
    raw_topic: raw?.topic ?? null,
    raw_position: raw?.position ?? null,
  };
}
/** Works for a canonical event and for a client's event as received. */
function idsOf(event: DeadLetter['event']): { user_id?: unknown; anonymous_id?: unknown } {
  if (!('raw' in event)) return event as { user_id?: unknown; anonymous_id?: unknown };
  const raw: unknown = event.inexact && typeof event.raw === 'string' ? JSON.parse(event.raw) : event.raw;
  const { userId, anonymousId } = Object(raw) as { userId?: unknown; anonymousId?: unknown };
  return { user_id: idText(userId), anonymous_id: idText(anonymousId) ?? event.request.anonymous_id };
}
function text(value: unknown): string | null {
  return typeof value === 'string' ? value.replaceAll('\u0000', '\uFFFD').toWellFormed().slice(0, 1_000) : null;
}
