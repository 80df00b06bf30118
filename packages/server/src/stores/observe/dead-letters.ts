import type { Attempt, DeadLetter, DeadLetterStage } from '@firsthand/core/outcome/outcome.ts';
import { parseInSteps } from '@firsthand/core/parse-in-steps.ts';
import { sql } from 'kysely';
import { finishInTurns, turns } from '../../runtime/turns.ts';
import { bytesOf, decodeInTurns, fitting, readBoundedPage, readPage } from '../config/paging.ts';
import type { TraceEventRow } from './rows.ts';
import type { ObserveDb } from './schema.ts';
import { storedIds } from './stored-text.ts';
import { CAUSE_COLUMNS, type DeadLetterRow, type HealthRow } from './tables.ts';

export interface DeadLetterFilter {
  org_id: string;
  integration_id?: string;
  pipeline_id?: string;
  webhook_source_id?: string;
  stage?: DeadLetterStage;
  stages?: readonly DeadLetterStage[];
  from?: number;
  to?: number;
  status?: 'pending' | 'replayed';
  reason?: string;
  user_id?: string;
  anonymous_id?: string;
  /** Only dead letters without an integration: they failed before routing. */
  before_routing?: boolean;
}
export type StoredDeadLetter = DeadLetter & { status: 'pending' | 'replayed' };

function matching({ db }: ObserveDb, wanted: DeadLetterFilter, now: number) {
  const filter = { ...wanted, ...storedIds(wanted) };
  let query = db.selectFrom('dead_letters').where('org_id', '=', filter.org_id).where('expires_at', '>', now);
  for (const name of [
    'integration_id',
    'pipeline_id',
    'webhook_source_id',
    'stage',
    'status',
    'reason',
    'user_id',
    'anonymous_id',
  ] as const) {
    const value = filter[name];
    if (value !== undefined) query = query.where(name, '=', value);
  }
  if (filter.stages !== undefined) query = query.where('stage', 'in', filter.stages);
  if (filter.before_routing === true) query = query.where('integration_id', 'is', null);
  if (filter.from !== undefined) query = query.where('created_at', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('created_at', '<=', filter.to);
  return query;
}

export async function listDeadLetters(
  observe: ObserveDb,
  filter: DeadLetterFilter,
  page: { limit: number; offset: number },
  now: number,
): Promise<{ letters: StoredDeadLetter[]; total: number }> {
  const ordered = matching(observe, filter, now).orderBy('created_at', 'desc').orderBy('id', 'desc');
  const sized = ordered.select(bytesOf('event', 'attempts'));
  const { rows, total } = await readBoundedPage(ordered.selectAll(), sized, page, () => countDeadLetters(observe, filter, now));
  return { letters: await decodeInTurns(rows, decode), total };
}

export async function countDeadLetters(observe: ObserveDb, filter: DeadLetterFilter, now: number): Promise<number> {
  const { n } = await matching(observe, filter, now)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

export type DeadLetterGroup = Pick<DeadLetterRow, Exclude<(typeof CAUSE_COLUMNS)[number], 'stage'>> & {
  stage: DeadLetterStage;
  count: number;
  pending: number;
  first_at: string;
  last_at: string;
};
/** Grouped by cause, the largest group first. */
export async function groupDeadLetters(
  observe: ObserveDb,
  filter: DeadLetterFilter,
  page: { limit: number; offset: number },
  now: number,
): Promise<{ groups: DeadLetterGroup[]; total: number }> {
  const grouped = matching(observe, filter, now).select(CAUSE_COLUMNS).groupBy(CAUSE_COLUMNS);
  const listed = grouped
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('count'),
      fn.sum<number>(eb.case().when('status', '=', 'pending').then(1).else(0).end()).as('pending'),
      fn.min('created_at').as('first'),
      fn.max('created_at').as('last'),
    ])
    .orderBy('count', 'desc')
    .orderBy('last', 'desc')
    .orderBy('reason');
  const count = async () =>
    Number(
      (
        await observe.db
          .selectFrom(grouped.as('causes'))
          .select(({ fn }) => fn.countAll<number>().as('n'))
          .executeTakeFirstOrThrow()
      ).n,
    );
  const { rows, total } = await readPage(listed, page, count);
  const iso = (ms: number) => new Date(Number(ms)).toISOString();
  const groups = rows.map(({ first, last, stage, count: all, pending, ...cause }) => ({
    ...cause,
    stage: stage as DeadLetterStage,
    count: Number(all),
    pending: Number(pending),
    first_at: iso(first),
    last_at: iso(last),
  }));
  return { groups, total };
}

/** Number of dead letters per integration. The key null counts those without an integration. */
export async function countByIntegration(observe: ObserveDb, filter: DeadLetterFilter, now: number): Promise<Map<string | null, number>> {
  const rows = await matching(observe, filter, now)
    .select(({ fn }) => ['integration_id', fn.countAll<number>().as('n')])
    .groupBy('integration_id')
    .execute();
  return new Map(rows.map(({ integration_id, n }) => [integration_id, Number(n)]));
}

/** Oldest first, after the given id, at most a page's bytes: there may be more after fewer than `limit`. A replay pages through them. */
export async function pageOfDeadLetters(
  observe: ObserveDb,
  filter: DeadLetterFilter,
  after: string,
  limit: number,
  now: number,
): Promise<StoredDeadLetter[]> {
  const ordered = matching(observe, filter, now).where('id', '>', after).orderBy('id');
  const sizes = await ordered.select(bytesOf('event', 'attempts')).limit(limit).execute();
  const fits = fitting(sizes.map(({ bytes }) => Number(bytes)));
  return fits === 0 ? [] : await decodeInTurns(await ordered.selectAll().limit(fits).execute(), decode);
}

export async function findDeadLetter({ db }: ObserveDb, orgId: string, id: string, now: number): Promise<StoredDeadLetter | undefined> {
  const row = await db
    .selectFrom('dead_letters')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row && (await decode(row));
}

/** The newest rejected event with that messageId. A rejected webhook has the id of its dead letter. */
export async function findRejected(
  observe: ObserveDb,
  orgId: string,
  eventId: string,
  now: number,
  pipelineId?: string,
): Promise<StoredDeadLetter | undefined> {
  const row = await selectRejected(observe, orgId, eventId, now, pipelineId).executeTakeFirst();
  if (row !== undefined) return await decode(row);
  const webhook = await findDeadLetter(observe, orgId, eventId, now);
  return webhook?.stage === 'webhook' && (pipelineId ?? webhook.pipeline_id) === webhook.pipeline_id ? webhook : undefined;
}
/** In SQLite not by the index of times: it would read every dead letter of the organisation to find none with the id. */
export function selectRejected({ db, engine }: ObserveDb, orgId: string, eventId: string, now: number, pipelineId?: string) {
  let query = db
    .selectFrom('dead_letters')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('event_id', '=', eventId)
    .where('stage', '=', 'ingest')
    .where('expires_at', '>', now);
  if (pipelineId !== undefined) query = query.where('pipeline_id', '=', pipelineId);
  const time = sql<number>`${sql.raw(engine === 'sqlite' ? '+' : '')}created_at`;
  return query.orderBy(time, 'desc').orderBy('id', 'desc').limit(1);
}

/** Finds the dead letter of an event that failed in processing, by the time it shares with its trace. Ignores expiry. */
export async function findProcessingLetter(
  { db }: ObserveDb,
  trace: Pick<TraceEventRow, 'org_id' | 'pipeline_id' | 'event_id' | 'processed_at'>,
): Promise<(Pick<StoredDeadLetter, 'event'> & Pick<DeadLetterRow, 'raw_topic' | 'raw_position'>) | undefined> {
  const letter = await db
    .selectFrom('dead_letters')
    .select(['event', 'raw_topic', 'raw_position'])
    .where('org_id', '=', trace.org_id)
    .where('created_at', '=', trace.processed_at)
    .where('pipeline_id', '=', trace.pipeline_id)
    .where('event_id', '=', trace.event_id)
    .where('stage', '=', 'processing')
    .executeTakeFirst();
  return letter && { ...letter, event: await eventOf(letter.event) };
}

/** Uses a transaction, so that it waits for the recorder's write lock without blocking the process. */
export async function markReplayed({ db }: ObserveDb, orgId: string, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await db
      .transaction()
      .execute((tx) =>
        tx.updateTable('dead_letters').set({ status: 'replayed' }).where('org_id', '=', orgId).where('id', 'in', ids).execute(),
      );
}

export async function deleteDeadLetter({ db }: ObserveDb, orgId: string, id: string): Promise<boolean> {
  const result = await db
    .transaction()
    .execute((tx) => tx.deleteFrom('dead_letters').where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst());
  return result.numDeletedRows > 0n;
}

/** Integrations that one statement names: writing one with ten thousand takes milliseconds, and engines limit their number. */
const HEALTH_AT_ONCE = 500;

export async function readHealth({ db }: ObserveDb, integrationIds: readonly string[]): Promise<Map<string, HealthRow>> {
  const health = new Map<string, HealthRow>();
  for (let from = 0; from < integrationIds.length; from += HEALTH_AT_ONCE) {
    await turns.bulk();
    const some = integrationIds.slice(from, from + HEALTH_AT_ONCE);
    const rows = await db.selectFrom('integration_health').selectAll().where('integration_id', 'in', some).execute();
    for (const row of rows)
      health.set(row.integration_id, { ...row, last_success_at: maybe(row.last_success_at), last_error_at: maybe(row.last_error_at) });
  }
  return health;
}

async function eventOf(bytes: Uint8Array): Promise<DeadLetter['event']> {
  await turns.bulk();
  return (await finishInTurns(parseInSteps(Buffer.from(bytes).toString('utf8')))) as DeadLetter['event'];
}
async function decode(row: DeadLetterRow): Promise<StoredDeadLetter> {
  const {
    event,
    attempts,
    created_at,
    expires_at,
    user_id: _user,
    anonymous_id: _anonymous,
    stage,
    raw_topic,
    raw_position,
    ...rest
  } = row;
  return {
    ...rest,
    stage: stage as DeadLetterStage,
    event: await eventOf(event),
    attempts: JSON.parse(attempts) as Attempt[],
    created_at: new Date(Number(created_at)).toISOString(),
    expires_at: new Date(Number(expires_at)).toISOString(),
    ...(raw_topic === null || raw_position === null ? {} : { raw: { topic: raw_topic, position: raw_position } }),
  };
}
function maybe(value: number | null): number | null {
  return value === null ? null : Number(value);
}
