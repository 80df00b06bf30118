import { type Expression, type SqlBool, sql } from 'kysely';
import { keyOf } from './keys.ts';
import type { TraceEventRow, TraceStepRow } from './rows.ts';
import type { ObserveDb } from './schema.ts';
import { allSteps, allTraces } from './segments.ts';

/** Conditions that an index answers. */
export interface TraceScope {
  org_id: string;
  pipeline_id?: string;
  user_id?: string;
  anonymous_id?: string;
  from?: number;
  to?: number;
}
export type TraceCursor = Pick<TraceEventRow, 'received_at' | 'event_id'>;

/** The events of a scope, `after` a place in the list and up to another. */
export function selectTraces({ db, engine }: ObserveDb, scope: TraceScope, after?: TraceCursor, through?: TraceCursor) {
  let query = db.selectFrom(allTraces(engine)).where('org_id', '=', scope.org_id);
  if (scope.pipeline_id !== undefined) query = query.where('pipeline_id', '=', scope.pipeline_id);
  if (scope.user_id !== undefined) query = query.where(idIs(engine, 'user', scope.user_id));
  if (scope.anonymous_id !== undefined) query = query.where(idIs(engine, 'anonymous', scope.anonymous_id));
  if (scope.from !== undefined) query = query.where('received_at', '>=', scope.from);
  if (scope.to !== undefined) query = query.where('received_at', '<=', scope.to);
  // The first condition repeats a part of the second: an index can use it.
  if (after !== undefined)
    query = query
      .where('received_at', '<=', after.received_at)
      .where(({ eb, or }) => or([eb('received_at', '<', after.received_at), eb('event_id', '<', after.event_id)]));
  if (through !== undefined)
    query = query
      .where('received_at', '>=', through.received_at)
      .where(({ eb, or }) => or([eb('received_at', '>', through.received_at), eb('event_id', '>=', through.event_id)]));
  return query;
}

/** SQLite has indexes of hashes. */
export function idIs(engine: ObserveDb['engine'], kind: 'event' | 'user' | 'anonymous', id: string): Expression<SqlBool> {
  const column = sql.ref(`${kind}_id`);
  if (engine === 'postgres') return sql<SqlBool>`${column} = ${id}`;
  return sql<SqlBool>`(${sql.ref(`${kind}_key`)} = ${keyOf(id)} and ${column} = ${id})`;
}
/** The same for several ids. */
export function idIn(engine: ObserveDb['engine'], kind: 'event' | 'user' | 'anonymous', ids: readonly string[]): Expression<SqlBool> {
  const column = sql.ref(`${kind}_id`);
  if (engine === 'postgres') return sql<SqlBool>`${column} = any(${ids})`;
  const keys = JSON.stringify(ids.map(keyOf));
  const texts = JSON.stringify(ids);
  return sql<SqlBool>`(${sql.ref(`${kind}_key`)} in (select value from json_each(${keys})) and ${column} in (select value from json_each(${texts})))`;
}

/** The steps of several events towards their integrations, oldest first. */
export async function stepsOfEvents(
  { db, engine }: ObserveDb,
  orgId: string,
  events: readonly Pick<TraceEventRow, 'pipeline_id' | 'event_id'>[],
): Promise<TraceStepRow[]> {
  if (events.length === 0) return [];
  const steps = await db
    .selectFrom(allSteps(engine))
    .select(STEP_COLUMNS)
    .where('org_id', '=', orgId)
    .where('pipeline_id', 'in', [...new Set(events.map(({ pipeline_id }) => pipeline_id))])
    .where(idIn(engine, 'event', [...new Set(events.map(({ event_id }) => event_id))]))
    .execute();
  return steps.map(stepNumbers).sort((a, b) => a.at - b.at);
}

/** The newest event with that id, and every step towards each integration, oldest first. */
export async function findTrace(
  observe: ObserveDb,
  orgId: string,
  eventId: string,
  pipelineId?: string,
): Promise<{ event: TraceEventRow; steps: TraceStepRow[] } | undefined> {
  const { db, engine } = observe;
  let query = db
    .selectFrom(allTraces(engine))
    .select(TRACE_COLUMNS)
    .where('org_id', '=', orgId)
    .where(idIs(engine, 'event', eventId));
  if (pipelineId !== undefined) query = query.where('pipeline_id', '=', pipelineId);
  const rows = (await query.execute()).map(numbers);
  const [event] = rows.sort((a, b) => b.received_at - a.received_at || b.processed_at - a.processed_at);
  return event && { event, steps: await stepsOfEvents(observe, orgId, [event]) };
}

export const TRACE_COLUMNS = [
  'org_id',
  'pipeline_id',
  'event_id',
  'received_at',
  'processed_at',
  'type',
  'original_type',
  'event',
  'user_id',
  'anonymous_id',
  'result',
  'reason',
  'decisions',
  'raw_topic',
  'raw_position',
  'stored_position',
] as const satisfies (keyof TraceEventRow)[];
const STEP_COLUMNS = [
  'org_id',
  'pipeline_id',
  'event_id',
  'integration_id',
  'at',
  'kind',
  'reason',
  'status',
  'duration_ms',
  'due_at',
] as const satisfies (keyof TraceStepRow)[];

export function numbers(row: TraceEventRow): TraceEventRow {
  return { ...row, received_at: Number(row.received_at), processed_at: Number(row.processed_at) };
}
function stepNumbers(step: TraceStepRow): TraceStepRow {
  return { ...step, at: Number(step.at), duration_ms: maybe(step.duration_ms), due_at: maybe(step.due_at) };
}
function maybe(value: number | null): number | null {
  return value === null ? null : Number(value);
}
