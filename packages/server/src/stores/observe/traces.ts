import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { allSteps, allTraces } from './all-traces.ts';
import { keyOf } from './keys.ts';
import { keyOfEvent, type TraceEventRow, type TraceStepRow } from './rows.ts';
import type { ObserveDb } from './schema.ts';
import { orAll, stepsOf, tracesBetween } from './segment-choice.ts';
import type { ObserveTables } from './tables.ts';

export interface TraceCondition {
  org_id: string;
  pipeline_id?: string;
  user_id?: string;
  anonymous_id?: string;
  /** A track name, or `@page` and so on. */
  event?: string;
  status?: TraceEventRow['result'];
  /** `webhook` stands for all webhook sources. */
  source?: 'browser' | 'server' | 'webhook';
  webhook_source_id?: string;
  /** Violated the tracking plan, whatever its `on_violation`. */
  plan_violation?: boolean;
  from?: number;
  to?: number;
  /** Processed at this moment or later. */
  processed_from?: number;
}
export type TraceCursor = Pick<TraceEventRow, 'received_at' | 'event_id'>;
/** The conditions of which each has an index in the order of the list. */
const LEADING = ['user_id', 'anonymous_id', 'event', 'status', 'pipeline_id', 'org_id'] as const;
type Leading = (typeof LEADING)[number];

/** The condition whose index the list follows. The others are compared row by row. */
export function leadingOf({ engine }: ObserveDb, wanted: TraceCondition): Leading {
  const indexed = (name: Leading) => {
    if (wanted[name] === undefined) return false;
    // A page may have a name too, so types have no index.
    if (name === 'event') return engine === 'sqlite' && wanted.event?.startsWith('@') === false;
    return name !== 'status' || (engine === 'sqlite' && wanted.status !== 'processed');
  };
  return LEADING.find(indexed) ?? 'org_id';
}

interface SelectOptions {
  /** Only events between these places in the list. */
  after?: TraceCursor;
  through?: TraceCursor;
  /** Some of the segments, or all. */
  source?: 'trace_events';
  /** Does not read the rows to compare a name with its hash: the index is enough. */
  counting?: boolean;
}
/** The events that meet a condition. */
export function selectTraces(
  observe: ObserveDb,
  wanted: TraceCondition,
  { after, through, source = allTraces(observe.engine), counting = false }: SelectOptions = {},
) {
  const { db, engine } = observe;
  const leading = leadingOf(observe, wanted);
  const { org_id, pipeline_id, user_id, anonymous_id, event, status, source: kind, webhook_source_id, plan_violation, from, to } = wanted;
  // In SQLite a plus sign keeps a column from being looked up in an index: without it the planner may follow the wrong one.
  const plain = (column: string, value: string) => sql<SqlBool>`${sql.raw(engine === 'sqlite' ? '+' : '')}${sql.ref(column)} = ${value}`;
  const isLed = (...names: Leading[]) => names.includes(leading);
  let query = db.selectFrom(source);
  query = isLed('user_id', 'anonymous_id') ? query.where(plain('org_id', org_id)) : query.where('org_id', '=', org_id);
  if (pipeline_id !== undefined)
    query = isLed('pipeline_id') ? query.where('pipeline_id', '=', pipeline_id) : query.where(plain('pipeline_id', pipeline_id));
  if (user_id !== undefined) query = query.where(isLed('user_id') ? idIs(engine, 'user', user_id) : plain('user_id', user_id));
  if (anonymous_id !== undefined)
    query = query.where(isLed('anonymous_id') ? idIs(engine, 'anonymous', anonymous_id) : plain('anonymous_id', anonymous_id));
  if (event !== undefined) {
    if (isLed('event')) query = query.where(sql<SqlBool>`name_key = ${keyOf(event)}`);
    if (!counting || !isLed('event')) query = query.where(plain(...eventColumn(event)));
  }
  // The literal lets SQLite see that its partial index has the row.
  if (status !== undefined)
    query = isLed('status')
      ? query.where('result', '=', status).where(sql<SqlBool>`result <> 'processed'`)
      : query.where(plain('result', status));
  if (kind === 'webhook') query = query.where('source', 'not in', ['browser', 'server']);
  else if (kind !== undefined) query = query.where('source', '=', kind);
  if (webhook_source_id !== undefined) query = query.where('source', '=', webhook_source_id);
  if (plan_violation === true) query = query.where(violatesPlan);
  if (from !== undefined) query = query.where('received_at', '>=', from);
  if (to !== undefined) query = query.where('received_at', '<=', to);
  if (wanted.processed_from !== undefined) query = query.where('processed_at', '>=', wanted.processed_from);
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

/** A plan that does not drop leaves only its decision. */
export const violatesPlan: Expression<SqlBool> = sql<SqlBool>`(reason = 'tracking_plan' or decisions like '%"step":"tracking_plan"%')`;

/** As in filters and mappings: `@page` also finds screens, `@screen` only those. */
function eventColumn(key: string): [column: 'event' | 'type' | 'original_type', value: string] {
  if (!key.startsWith('@')) return ['event', key];
  const type = key.slice(1);
  return [type === 'screen' || type === 'alias' ? 'original_type' : 'type', type];
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
/** In SQLite not by the organisation's own index: the ids that stand beside it find the rows. */
export function inOrganisation(engine: ObserveDb['engine'], orgId: string): Expression<SqlBool> {
  return sql<SqlBool>`${sql.raw(engine === 'sqlite' ? '+' : '')}org_id = ${orgId}`;
}

type EventPlace = Pick<TraceEventRow, 'pipeline_id' | 'event_id' | 'received_at'>;

/** The steps of several events towards their integrations, oldest first. */
export async function stepsOfEvents(observe: ObserveDb, orgId: string, events: readonly EventPlace[]): Promise<TraceStepRow[]> {
  const steps = await selectSteps(observe, orgId, events, (query) => query.select(STEP_COLUMNS).execute());
  return steps.map(stepNumbers).sort((a, b) => a.at - b.at);
}

/** The same in any order. `read` chooses columns, and may add conditions. */
export async function selectSteps<S extends Pick<TraceStepRow, 'pipeline_id' | 'event_id'>>(
  observe: ObserveDb,
  orgId: string,
  events: readonly EventPlace[],
  read: (query: SelectQueryBuilder<ObserveTables, 'trace_steps', unknown>) => Promise<S[]>,
): Promise<S[]> {
  if (events.length === 0) return [];
  const { db, engine } = observe;
  const pipelines = [...new Set(events.map(({ pipeline_id }) => pipeline_id))];
  const stepsIn = (source: 'trace_steps') =>
    db.selectFrom(source).where(inOrganisation(engine, orgId)).where('pipeline_id', 'in', pipelines);
  const ids = [...new Set(events.map(({ event_id }) => event_id))];
  const all = stepsIn(allSteps(engine)).where(idIn(engine, 'event', ids));
  const source = engine === 'sqlite' ? await stepsOf(observe, events) : undefined;
  if (engine === 'sqlite' && source === undefined) return [];
  const found = await orAll(source === undefined ? all : stepsIn(source), all, read);
  const wanted = new Set(events.map(keyOfEvent));
  return found.filter((step) => wanted.has(keyOfEvent(step)));
}

export interface FoundTrace {
  event: TraceEventRow;
  steps: TraceStepRow[];
}
/** The newest event with that id, and every step towards each integration, oldest first. */
export async function findTrace(observe: ObserveDb, orgId: string, eventId: string, pipelineId?: string): Promise<FoundTrace | undefined> {
  const { db, engine, thread } = observe;
  if (engine === 'sqlite' && thread !== undefined) return await thread.call('findTrace', [orgId, eventId, pipelineId]);
  const found = await orAll(await tracesBetween(observe, {}, keyOf(eventId)), allTraces(engine), (source) =>
    db
      .selectFrom(source)
      .select(TRACE_COLUMNS)
      .where('org_id', '=', orgId)
      .where(idIs(engine, 'event', eventId))
      .execute(),
  );
  const rows = found.map(numbers).filter(({ pipeline_id }) => pipeline_id === (pipelineId ?? pipeline_id));
  const [event] = rows.sort((a, b) => b.received_at - a.received_at || b.processed_at - a.processed_at);
  return event && { event, steps: await stepsOfEvents(observe, orgId, [event]) };
}

/** What a list shows. */
export const LISTED_COLUMNS = [
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
  'stored_position',
  'source',
] as const satisfies (keyof TraceEventRow)[];
export type ListedTrace = Pick<TraceEventRow, (typeof LISTED_COLUMNS)[number]>;
export const TRACE_COLUMNS = [
  ...LISTED_COLUMNS,
  'org_id',
  'decisions',
  'raw_topic',
  'raw_position',
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
  'revision_number',
] as const satisfies (keyof TraceStepRow)[];

export function numbers<R extends Pick<TraceEventRow, 'received_at' | 'processed_at'>>(row: R): R {
  return { ...row, received_at: Number(row.received_at), processed_at: Number(row.processed_at) };
}
function stepNumbers(step: TraceStepRow): TraceStepRow {
  return { ...step, at: Number(step.at), duration_ms: maybe(step.duration_ms), due_at: maybe(step.due_at) };
}
function maybe(value: number | null): number | null {
  return value === null ? null : Number(value);
}
