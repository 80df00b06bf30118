import { readPage } from '../config/paging.ts';
import type { TraceEventRow, TraceStepRow } from './rows.ts';
import type { ObserveDb } from './schema.ts';

export interface TraceFilter {
  org_id: string;
  pipeline_id?: string;
  event?: string;
  user_id?: string;
  status?: TraceEventRow['result'];
  limit: number;
  offset: number;
}

/** Newest first. */
export async function listTraces({ db }: ObserveDb, filter: TraceFilter): Promise<{ rows: TraceEventRow[]; total: number }> {
  let base = db.selectFrom('trace_events').where('org_id', '=', filter.org_id);
  if (filter.pipeline_id !== undefined) base = base.where('pipeline_id', '=', filter.pipeline_id);
  if (filter.event !== undefined)
    base = filter.event.startsWith('@') ? base.where('type', '=', filter.event.slice(1)) : base.where('event', '=', filter.event);
  if (filter.status !== undefined) base = base.where('result', '=', filter.status);
  if (filter.user_id !== undefined) base = base.where('user_id', '=', filter.user_id);
  const listed = base.selectAll().orderBy('received_at', 'desc').orderBy('event_id', 'desc');
  const count = async () => Number((await base.select(({ fn }) => fn.countAll<number>().as('n')).executeTakeFirstOrThrow()).n);
  const { rows, total } = await readPage(listed, filter, count);
  return { rows: rows.map(numbers), total };
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
    steps: steps.map((step) => ({ ...step, at: Number(step.at), duration_ms: maybe(step.duration_ms), due_at: maybe(step.due_at) })),
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
function maybe(value: number | null): number | null {
  return value === null ? null : Number(value);
}
