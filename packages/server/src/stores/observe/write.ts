import { addToCounters, columnsOf, insertRows } from './insert-rows.ts';
import { type CounterRow, keyOfEvent, type Tally, type TraceStepRow } from './rows.ts';
import type { HealthRow } from './tables.ts';
import { writeDeadLetters } from './write-dead-letters.ts';
import { writeSegment } from './write-segment.ts';
import { writeTables } from './write-tables.ts';
import type { Writer } from './writer.ts';

/** The topic of an embedded log. Each topic has its own position. */
const RECORDER = 'outcomes';

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

class Undone extends Error {}

/** Why these rows can never be written; undefined where they can. Writes nothing. */
export async function refusalOf(writer: Writer, tally: Tally): Promise<Error | undefined> {
  try {
    await writer.transaction(async (tx) => {
      await writeRows(tx, tally);
      throw new Undone();
    });
  } catch (error) {
    if (error instanceof Undone) return undefined;
    if (!isOfRows(error)) throw error;
    return error;
  }
  return undefined;
}

/** PostgreSQL: bad data, constraint, limit of the program. */
const OF_ROWS = /^(?:22|23|54)[0-9A-Z]{3}$/;
/** SQLite: too big, constraint, mismatch. */
const OF_ROWS_IN_SQLITE = [18, 19, 20];
/** Whether an error is of the rows, and comes again at every repeat. Everything else passes: the database is away, full or busy. */
export function isOfRows(error: unknown): error is Error {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return true;
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (code === 'ERR_SQLITE_ERROR') return OF_ROWS_IN_SQLITE.includes(Number(errcode) & 0xff);
  return typeof code === 'string' && OF_ROWS.test(code);
}

/**
 * Rows that another recorder may update at the same time are sorted, so that both lock them in the same order. SQLite has one recorder, and
 * keeps traces in the order of processing for retention.
 */
async function writeRows(tx: Writer, tally: Tally): Promise<void> {
  // For a repeated id (a replay, or the same messageId after the deduplication window) the newest row of a batch wins.
  const events = lastOf(tally.events, keyOfEvent);
  if (tx.engine === 'sqlite') await writeSegment(tx, events, tally);
  else await writeTables(tx, sorted(events, keyOfEvent), sorted(tally.untraced, keyOfEvent), tally);
  await addToCounters(tx, sorted(tally.counters, keyOfCounter));
  await insertRows(
    tx,
    'integration_health',
    columnsOf('integration_health'),
    sorted(healthOf([...tally.untracedSuccess, ...tally.lastReceived, ...tally.steps]), ({ integration_id }) => integration_id),
    KEEP_NEWER_HEALTH,
  );
  await writeDeadLetters(tx, tally.deadLetters);
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

const KEEP_NEWER_HEALTH = `on conflict (integration_id) do update set
  last_success_at = coalesce(excluded.last_success_at, integration_health.last_success_at),
  last_error = coalesce(excluded.last_error, integration_health.last_error),
  last_error_at = coalesce(excluded.last_error_at, integration_health.last_error_at)`;

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
