import { sql } from 'kysely';
import { percentile } from './latency.ts';
import type { ObserveDb } from './schema.ts';

export type Interval = 'minute' | 'hour' | 'day';
const MINUTES: Record<Interval, number> = { minute: 1, hour: 60, day: 1_440 };
const MINUTE = 60_000;

export interface StatsQuery {
  org_id: string;
  pipeline_id?: string;
  integration_id?: string;
  from: number;
  to: number;
  interval: Interval;
}
export interface StatsEntry {
  received: number;
  rejected: number;
  duplicates: number;
  processed: number;
  dropped: Record<string, number>;
  delivered: number;
  retried: number;
  dead_lettered: number;
  replayed: number;
  p50_ms: number | null;
  p99_ms: number | null;
}

/**
 * Counters added up by interval. With an integration named, the pipeline's own counters (received, drops before
 * routing) stand beside the integration's, from the minute in which it was added: what came before was never its to deliver.
 * So received = delivered + dropped + dead_lettered + waiting holds.
 */
export async function readStats(
  { db }: ObserveDb,
  query: StatsQuery,
  integration?: { pipeline_id: string; created_at: string },
): Promise<{ series: (StatsEntry & { time: string })[]; totals: StatsEntry }> {
  const step = MINUTES[query.interval];
  const pipelineId = query.pipeline_id ?? integration?.pipeline_id;
  let select = db
    .selectFrom('counters')
    .select([
      sql<number>`(minute / ${sql.raw(String(step))}) * ${sql.raw(String(step))}`.as('slot'),
      'counter',
      sql<number>`sum(n)`.as('n'),
    ])
    .where('org_id', '=', query.org_id)
    .where('minute', '>=', Math.floor(query.from / MINUTE))
    .where('minute', '<=', Math.floor(query.to / MINUTE))
    .groupBy(['slot', 'counter']);
  if (pipelineId !== undefined) select = select.where('pipeline_id', '=', pipelineId);
  const integrationId = query.integration_id;
  if (integrationId !== undefined) {
    const added = integration === undefined ? 0 : Math.floor(Date.parse(integration.created_at) / MINUTE);
    select = select.where((eb) =>
      eb.or([eb('integration_id', '=', integrationId), eb.and([eb('integration_id', '=', ''), eb('minute', '>=', added)])]),
    );
  }
  const slots = new Map<number, Gathered>();
  const all = gather();
  for (const row of await select.execute()) {
    const slot = Number(row.slot);
    let entry = slots.get(slot);
    if (!entry) slots.set(slot, (entry = gather()));
    add(entry, row.counter, Number(row.n));
    add(all, row.counter, Number(row.n));
  }
  const series = [...slots]
    .sort(([a], [b]) => a - b)
    .map(([slot, entry]) => ({ time: new Date(slot * MINUTE).toISOString(), ...finish(entry) }));
  return { series, totals: finish(all) };
}

interface Gathered {
  entry: StatsEntry;
  latency: Map<number, number>;
}
function gather(): Gathered {
  return {
    entry: {
      received: 0,
      rejected: 0,
      duplicates: 0,
      processed: 0,
      dropped: {},
      delivered: 0,
      retried: 0,
      dead_lettered: 0,
      replayed: 0,
      p50_ms: null,
      p99_ms: null,
    },
    latency: new Map(),
  };
}
function add({ entry, latency }: Gathered, counter: string, n: number): void {
  const colon = counter.indexOf(':');
  const kind = colon < 0 ? counter : counter.slice(0, colon);
  const detail = counter.slice(colon + 1);
  if (kind === 'dropped') entry.dropped[detail] = (entry.dropped[detail] ?? 0) + n;
  else if (kind === 'latency') latency.set(Number(detail), (latency.get(Number(detail)) ?? 0) + n);
  else if (kind === 'rejected') entry.rejected += n;
  else entry[kind as 'received' | 'duplicates' | 'processed' | 'delivered' | 'retried' | 'dead_lettered' | 'replayed'] += n;
}
function finish({ entry, latency }: Gathered): StatsEntry {
  return { ...entry, p50_ms: percentile(latency, 0.5), p99_ms: percentile(latency, 0.99) };
}
