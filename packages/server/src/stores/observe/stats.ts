import { noOutcomes, type StatsEntry } from '@firsthand/core/outcome/stats-entry.ts';
import { sql } from 'kysely';
import { turns } from '../../runtime/turns.ts';
import { percentile } from './latency.ts';
import type { ObserveDb } from './schema.ts';

export type Interval = 'minute' | 'hour' | 'day';
export const MINUTES: Record<Interval, number> = { minute: 1, hour: 60, day: 1_440 };
export const MINUTE = 60_000;

export interface StatsQuery {
  org_id: string;
  pipeline_id?: string;
  /** Only these pipelines. */
  pipeline_ids?: readonly string[];
  /** Only these counters: the others are zero in the result. */
  counters?: readonly string[];
  /** Only counters of integrations, without the pipelines' own. */
  of_integrations?: boolean;
  /** Only the pipelines' own counters. */
  of_pipelines?: boolean;
  from: number;
  to: number;
  interval: Interval;
  /** Returns an entry for every interval, including empty ones. */
  fill?: boolean;
}
export interface Stats {
  series: (StatsEntry & { time: string })[];
  totals: StatsEntry;
}
export interface StatsIntegration {
  id: string;
  pipeline_id: string;
  created_at: string;
  /** Its backlog now, without replays. */
  waiting: number;
}

/**
 * Sums counters by interval. With an integration, the pipeline's own counters (received, drops before routing) are included from the
 * minute in which the integration was added: earlier events were never meant for it. So received = delivered + dropped + dead_lettered +
 * waiting holds.
 */
export async function readStats({ db }: ObserveDb, query: StatsQuery, integration?: StatsIntegration): Promise<Stats> {
  const pipelineId = query.pipeline_id ?? integration?.pipeline_id;
  let select = counted(db, query);
  if (pipelineId !== undefined) select = select.where('pipeline_id', '=', pipelineId);
  if (integration === undefined) return await addUp(await select.execute(), query);
  const { id } = integration;
  const added = Math.floor(Date.parse(integration.created_at) / MINUTE);
  select = select.where((eb) => eb.or([eb('integration_id', '=', id), eb.and([eb('integration_id', '=', ''), eb('minute', '>=', added)])]));
  const rows = await select.execute();
  if (added < Math.floor(query.from / MINUTE) || added > Math.floor(query.to / MINUTE)) return await addUp(rows, query);
  const step = MINUTES[query.interval];
  const slot = Math.floor(added / step) * step;
  const before = await receivedBefore(db, query.org_id, integration, added);
  if (before === 0) return await addUp(rows, query);
  const less = ['received', 'processed'].map((counter) => ({ slot, counter, n: -before }));
  return await addUp([...rows, ...less], query);
}

/**
 * Events of the minute in which the integration was added that it was not meant to deliver, because they were processed before. No
 * counter is finer than a minute, so it is what the integration's own outcomes and backlog leave of everything received since.
 */
async function receivedBefore(db: ObserveDb['db'], orgId: string, { id, pipeline_id, waiting }: StatsIntegration, added: number) {
  const rows = await db
    .selectFrom('counters')
    .where('org_id', '=', orgId)
    .where('pipeline_id', '=', pipeline_id)
    .where('integration_id', 'in', ['', id])
    .where('minute', '>=', added)
    .where((eb) => eb.or([eb('counter', 'in', ['received', 'delivered', 'dead_lettered']), eb('counter', 'like', 'dropped:%')]))
    .select([sql<number>`case when minute = ${added} then 1 else 0 end`.as('first'), 'counter', sql<number>`sum(n)`.as('n')])
    .groupBy(['first', 'counter'])
    .execute();
  const sum = (of: typeof rows) => of.reduce((total, { n }) => total + Number(n), 0);
  const [received, ended] = [rows.filter(({ counter }) => counter === 'received'), rows.filter(({ counter }) => counter !== 'received')];
  const inFirst = (of: typeof rows) => sum(of.filter(({ first }) => Number(first) === 1));
  // What ended in the first minute was received in it. An outcome that is not recorded yet must not make it less.
  return Math.min(sum(received) - sum(ended) - waiting, inFirst(received) - inFirst(ended));
}

/** The same for all pipelines or integrations of the organisation at once. Those without counters are omitted. */
export async function readStatsBy({ db }: ObserveDb, query: StatsQuery, by: 'pipeline_id' | 'integration_id'): Promise<Map<string, Stats>> {
  let select = counted(db, query).select(by).groupBy(by);
  if (query.pipeline_id !== undefined) select = select.where('pipeline_id', '=', query.pipeline_id);
  // The pipeline's own counters have no integration.
  if (by === 'integration_id') select = select.where('integration_id', '<>', '');
  const groups = new Map<string, Counted[]>();
  for (const row of await select.execute()) {
    const rows = groups.get(row[by]);
    if (rows === undefined) groups.set(row[by], [row]);
    else rows.push(row);
  }
  const stats = new Map<string, Stats>();
  for (const [id, rows] of groups) stats.set(id, await addUp(rows, query));
  return stats;
}

/** How many entries `readStatsBy` would return. Ask before it builds them. */
export async function countGroups({ db }: ObserveDb, query: StatsQuery, by: 'pipeline_id' | 'integration_id'): Promise<number> {
  let select = within(db, query);
  if (query.pipeline_id !== undefined) select = select.where('pipeline_id', '=', query.pipeline_id);
  if (by === 'integration_id') select = select.where('integration_id', '<>', '');
  const { n } = await select.select(({ fn }) => fn.count<number>(by).distinct().as('n')).executeTakeFirstOrThrow();
  return Number(n);
}

/** Up to this length the index of minutes reads less than the primary key, which holds all minutes of an organisation. */
const SHORT_MS = 15 * MINUTE;

function within(db: ObserveDb['db'], { org_id, pipeline_ids, counters, of_integrations, of_pipelines, from, to }: StatsQuery) {
  let select = db
    .selectFrom('counters')
    // As an expression it keeps SQLite from the primary key.
    .where(to - from <= SHORT_MS ? sql<string>`org_id || ''` : 'org_id', '=', org_id)
    .where('minute', '>=', Math.floor(from / MINUTE))
    .where('minute', '<=', Math.floor(to / MINUTE));
  if (counters !== undefined) select = select.where('counter', 'in', counters);
  if (of_integrations === true) select = select.where('integration_id', '<>', '');
  if (of_pipelines === true) select = select.where('integration_id', '=', '');
  return pipeline_ids === undefined ? select : select.where('pipeline_id', 'in', pipeline_ids);
}

function counted(db: ObserveDb['db'], query: StatsQuery) {
  const step = sql.raw(String(MINUTES[query.interval]));
  return within(db, query)
    .select([sql<number>`(minute / ${step}) * ${step}`.as('slot'), 'counter', sql<number>`sum(n)`.as('n')])
    .groupBy(['slot', 'counter']);
}

interface Counted {
  slot: number;
  counter: string;
  n: number;
}
/** So many entries between turns of the loop: about a millisecond. */
const PER_TURN = 500;

async function addUp(rows: readonly Counted[], { from, to, interval, fill }: StatsQuery): Promise<Stats> {
  const slots = new Map<number, Gathered>();
  const all = gather();
  if (fill === true) {
    const step = MINUTES[interval];
    for (let slot = Math.floor(from / MINUTE / step) * step; slot <= to / MINUTE; slot += step) {
      if (slots.size % PER_TURN === 0) await turns.bulk();
      slots.set(slot, gather());
    }
  }
  for (const [at, row] of rows.entries()) {
    if (at % PER_TURN === 0) await turns.bulk();
    const slot = Number(row.slot);
    let entry = slots.get(slot);
    if (!entry) slots.set(slot, (entry = gather()));
    add(entry, row.counter, Number(row.n));
    add(all, row.counter, Number(row.n));
  }
  const series: Stats['series'] = [];
  for (const [slot, entry] of [...slots].sort(([a], [b]) => a - b)) {
    if (series.length % PER_TURN === 0) await turns.bulk();
    series.push({ time: new Date(slot * MINUTE).toISOString(), ...finish(entry) });
  }
  return { series, totals: finish(all) };
}

interface Gathered {
  entry: StatsEntry;
  latency: Map<number, number>;
}
const gather = (): Gathered => ({ entry: noOutcomes(), latency: new Map() });
function add({ entry, latency }: Gathered, counter: string, n: number): void {
  const colon = counter.indexOf(':');
  const kind = colon < 0 ? counter : counter.slice(0, colon);
  const detail = counter.slice(colon + 1);
  if (kind === 'dropped' || kind === 'dropped_again') entry[kind][detail] = (entry[kind][detail] ?? 0) + n;
  else if (kind === 'source') entry.received_by_source[detail] = (entry.received_by_source[detail] ?? 0) + n;
  else if (kind === 'latency') latency.set(Number(detail), (latency.get(Number(detail)) ?? 0) + n);
  else if (kind === 'rejected') {
    entry.rejected += n;
    entry.rejected_by_reason[detail] = (entry.rejected_by_reason[detail] ?? 0) + n;
  } else
    entry[
      kind as
        | 'received'
        | 'rejected_dropped'
        | 'plan_violations'
        | 'duplicates'
        | 'processed'
        | 'delivered'
        | 'retried'
        | 'dead_lettered'
        | 'dead_lettered_again'
        | 'replayed'
    ] += n;
}
function finish({ entry, latency }: Gathered): StatsEntry {
  return { ...entry, p50_ms: percentile(latency, 0.5), p99_ms: percentile(latency, 0.99) };
}
