/**
 * The backlog in the past, from the present one and the counters: going back, an event that was processed had not come yet, and one that
 * was delivered, dropped or given up still waited. So nothing is sampled or stored for it.
 */
import { type SqlBool, sql } from 'kysely';
import type { ObserveDb } from './schema.ts';
import { MINUTE, MINUTES, type StatsQuery } from './stats.ts';

export interface WaitingIntegration {
  id: string;
  pipeline_id: string;
  created_at: string;
}

/** At the end of the interval that begins at each of `times`, oldest first. `waiting`: the integrations' backlog now, without replays. */
export async function waitingSeries(
  observe: ObserveDb,
  { org_id, from, interval }: Pick<StatsQuery, 'org_id' | 'from' | 'interval'>,
  { integrations, waiting }: { integrations: readonly WaitingIntegration[]; waiting: number },
  times: readonly string[],
): Promise<number[]> {
  const changes = integrations.length === 0 ? [] : await changesSince(observe, { org_id, from, interval }, integrations);
  const series: number[] = [];
  let left = waiting;
  for (const time of times.toReversed()) {
    const slot = Math.floor(Date.parse(time) / MINUTE);
    for (let last = changes.at(-1); last !== undefined && last.slot > slot; last = changes.at(-1)) {
      left -= last.n;
      changes.pop();
    }
    // Below zero: outcomes that are not recorded yet, or events of the minute in which an integration was added.
    series.push(Math.max(0, left));
  }
  return series.reverse();
}

/** By how much the backlog grew in each interval, oldest first. Events processed before an integration was added are not waiting for it. */
async function changesSince(
  { db, engine }: ObserveDb,
  { org_id, from, interval }: Pick<StatsQuery, 'org_id' | 'from' | 'interval'>,
  integrations: readonly WaitingIntegration[],
): Promise<{ slot: number; n: number }[]> {
  const list = JSON.stringify(
    integrations.map(({ id, pipeline_id, created_at }) => ({ id, pipeline_id, added: Math.floor(Date.parse(created_at) / MINUTE) })),
  );
  const listed =
    engine === 'postgres'
      ? sql`json_to_recordset(${list}::json) as listed(id text, pipeline_id text, added bigint)`
      : sql`(select value ->> 'id' as id, value ->> 'pipeline_id' as pipeline_id, value ->> 'added' as added from json_each(${list})) as listed`;
  const step = sql.raw(String(MINUTES[interval]));
  const slot = sql`(counters.minute / ${step}) * ${step}`;
  const inRange = sql<SqlBool>`counters.org_id = ${org_id} and counters.minute >= ${Math.floor(from / MINUTE)}`;
  // A cross join keeps SQLite at this order: for each integration, a range of the primary key.
  const { rows } = await sql<{ slot: number; n: number }>`
    select slot, sum(n) as n from (
      select ${slot} as slot, counters.n as n from ${listed} cross join counters
        where ${inRange} and counters.pipeline_id = listed.pipeline_id and counters.integration_id = ''
          and counters.counter = 'processed' and counters.minute >= listed.added
      union all
      select ${slot} as slot, -counters.n as n from ${listed} cross join counters
        where ${inRange} and counters.pipeline_id = listed.pipeline_id and counters.integration_id = listed.id
          and (counters.counter in ('delivered', 'dead_lettered') or counters.counter like 'dropped:%')
    ) as changes group by slot order by slot`.execute(db);
  return rows.map((row) => ({ slot: Number(row.slot), n: Number(row.n) }));
}
