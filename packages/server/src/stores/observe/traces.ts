import type { ExpressionBuilder } from 'kysely';
import { readPage } from '../config/paging.ts';
import type { TraceEventRow, TraceStepRow } from './rows.ts';
import type { ObserveDb } from './schema.ts';
import type { ObserveTables } from './tables.ts';

export interface TraceFilter {
  org_id: string;
  pipeline_id?: string;
  event?: string;
  user_id?: string;
  anonymous_id?: string;
  status?: TraceEventRow['result'];
  /** Why the event was dropped or failed, as a whole or at an integration. */
  reason?: string;
  /** The last step of the event at an integration (any, or `integration_id`) is this one. */
  delivery?: TraceStepRow['kind'] | 'not_delivered';
  integration_id?: string;
  from?: number;
  to?: number;
  /** Only events after this one in the order of the list. */
  after?: TraceCursor;
  limit: number;
  offset: number;
}
export type TraceCursor = Pick<TraceEventRow, 'received_at' | 'event_id'>;

/** Newest first. The total is left out if `after` is given: the first page has it. */
export async function listTraces({ db }: ObserveDb, filter: TraceFilter): Promise<{ rows: TraceEventRow[]; total?: number }> {
  let base = db.selectFrom('trace_events').where('org_id', '=', filter.org_id);
  if (filter.pipeline_id !== undefined) base = base.where('pipeline_id', '=', filter.pipeline_id);
  if (filter.event !== undefined) {
    const [column, value] = eventColumn(filter.event);
    base = base.where(column, '=', value);
  }
  if (filter.status !== undefined) base = base.where('result', '=', filter.status);
  if (filter.user_id !== undefined) base = base.where('user_id', '=', filter.user_id);
  if (filter.anonymous_id !== undefined) base = base.where('anonymous_id', '=', filter.anonymous_id);
  if (filter.from !== undefined) base = base.where('received_at', '>=', filter.from);
  if (filter.to !== undefined) base = base.where('received_at', '<=', filter.to);
  const { reason, delivery, integration_id } = filter;
  if (reason !== undefined)
    base = base.where((eb) => eb.or([eb('reason', '=', reason), eb.exists(stepsOf(eb).where('reason', '=', reason))]));
  if (delivery !== undefined || integration_id !== undefined)
    base = base.where((eb) => {
      let last = stepsOf(eb).where(({ not, exists }) => not(exists(laterSteps(eb))));
      if (integration_id !== undefined) last = last.where('integration_id', '=', integration_id);
      if (delivery === 'not_delivered') last = last.where('kind', '!=', 'delivered');
      else if (delivery !== undefined) last = last.where('kind', '=', delivery);
      return eb.exists(last);
    });
  const { after } = filter;
  if (after !== undefined) {
    const { received_at, event_id } = after;
    const older = base.where((eb) =>
      eb.or([eb('received_at', '<', received_at), eb.and([eb('received_at', '=', received_at), eb('event_id', '<', event_id)])]),
    );
    const rows = await older.selectAll().orderBy('received_at', 'desc').orderBy('event_id', 'desc').limit(filter.limit).execute();
    return { rows: rows.map(numbers) };
  }
  const listed = base.selectAll().orderBy('received_at', 'desc').orderBy('event_id', 'desc');
  const count = async () => Number((await base.select(({ fn }) => fn.countAll<number>().as('n')).executeTakeFirstOrThrow()).n);
  const { rows, total } = await readPage(listed, filter, count);
  return { rows: rows.map(numbers), total };
}

/** As in filters and mappings: `@page` also finds screens, `@screen` only those. */
function eventColumn(key: string): [column: 'event' | 'type' | 'original_type', value: string] {
  if (!key.startsWith('@')) return ['event', key];
  const type = key.slice(1);
  return [type === 'screen' || type === 'alias' ? 'original_type' : 'type', type];
}

type TraceExpressions = ExpressionBuilder<ObserveTables, 'trace_events'>;
const stepsOf = (eb: TraceExpressions) =>
  eb
    .selectFrom('trace_steps')
    .select('trace_steps.at')
    .whereRef('trace_steps.pipeline_id', '=', 'trace_events.pipeline_id')
    .whereRef('trace_steps.event_id', '=', 'trace_events.event_id');
const laterSteps = (eb: TraceExpressions) =>
  (eb as unknown as ExpressionBuilder<ObserveTables, 'trace_steps'>) // used inside `stepsOf`, so its table is in scope
    .selectFrom('trace_steps as later')
    .select('later.at')
    .whereRef('later.pipeline_id', '=', 'trace_steps.pipeline_id')
    .whereRef('later.event_id', '=', 'trace_steps.event_id')
    .whereRef('later.integration_id', '=', 'trace_steps.integration_id')
    .whereRef('later.at', '>', 'trace_steps.at');

/** The steps of several events towards their integrations, oldest first. */
export async function stepsOfEvents(
  { db }: ObserveDb,
  orgId: string,
  events: readonly Pick<TraceEventRow, 'pipeline_id' | 'event_id'>[],
): Promise<TraceStepRow[]> {
  if (events.length === 0) return [];
  const steps = await db
    .selectFrom('trace_steps')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('pipeline_id', 'in', [...new Set(events.map(({ pipeline_id }) => pipeline_id))])
    .where('event_id', 'in', [...new Set(events.map(({ event_id }) => event_id))])
    .orderBy('at')
    .execute();
  return steps.map(stepNumbers);
}

/** The newest event with that id, and every step towards each integration, oldest first. */
export async function findTrace(
  { db }: ObserveDb,
  orgId: string,
  eventId: string,
  pipelineId?: string,
): Promise<{ event: TraceEventRow; steps: TraceStepRow[] } | undefined> {
  let query = db.selectFrom('trace_events').selectAll().where('org_id', '=', orgId).where('event_id', '=', eventId);
  if (pipelineId !== undefined) query = query.where('pipeline_id', '=', pipelineId);
  const row = await query.orderBy('received_at', 'desc').limit(1).executeTakeFirst();
  if (!row) return undefined;
  const steps = await db
    .selectFrom('trace_steps')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('pipeline_id', '=', row.pipeline_id)
    .where('event_id', '=', eventId)
    .orderBy('at')
    .execute();
  return {
    event: numbers(row),
    steps: steps.map(stepNumbers),
  };
}

/** Forgets the traces of a person. */
export async function eraseTraces({ db }: ObserveDb, orgId: string, who: { user_id?: string; anonymous_ids: string[] }): Promise<number> {
  const mine = db
    .selectFrom('trace_events')
    .select(['pipeline_id', 'event_id'])
    .where('org_id', '=', orgId)
    .where((eb) =>
      eb.or([
        ...(who.user_id === undefined ? [] : [eb('user_id', '=', who.user_id)]),
        ...(who.anonymous_ids.length === 0 ? [] : [eb('anonymous_id', 'in', who.anonymous_ids)]),
      ]),
    );
  const rows = await mine.execute();
  for (let i = 0; i < rows.length; i += 200) {
    const part = rows.slice(i, i + 200);
    await db.transaction().execute(async (tx) => {
      for (const table of ['trace_steps', 'trace_events'] as const)
        await tx
          .deleteFrom(table)
          .where('org_id', '=', orgId)
          .where((eb) => eb.or(part.map((row) => eb.and([eb('pipeline_id', '=', row.pipeline_id), eb('event_id', '=', row.event_id)]))))
          .execute();
    });
  }
  return rows.length;
}

function numbers(row: TraceEventRow): TraceEventRow {
  return { ...row, received_at: Number(row.received_at), processed_at: Number(row.processed_at) };
}
function stepNumbers(step: TraceStepRow): TraceStepRow {
  return { ...step, at: Number(step.at), duration_ms: maybe(step.duration_ms), due_at: maybe(step.due_at) };
}
function maybe(value: number | null): number | null {
  return value === null ? null : Number(value);
}
