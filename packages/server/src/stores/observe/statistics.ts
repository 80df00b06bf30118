/** The statistics of `GET /stats` as JSON. On SQLite the read thread writes it: the minutes of a week are megabytes. */
import { stringifyInSteps } from '@firsthand/core/stringify-in-steps.ts';
import { finishInTurns } from '../../runtime/turns.ts';
import type { ObserveDb } from './schema.ts';
import { readStats, readStatsBy, type StatsIntegration, type StatsQuery } from './stats.ts';
import { type WaitingIntegration, waitingSeries } from './waiting.ts';

export interface StatisticsQuery extends StatsQuery {
  integration?: StatsIntegration;
  group_by?: 'pipeline_id' | 'integration_id';
  /** The backlog now. */
  waiting: number;
  /** Adds the backlog of these integrations over time. */
  backlog_of?: readonly WaitingIntegration[];
}

export async function statisticsJson(observe: ObserveDb, query: StatisticsQuery): Promise<Uint8Array> {
  const { engine, thread } = observe;
  if (engine === 'sqlite' && thread !== undefined) return await thread.call('statisticsJson', [query]);
  const json = await finishInTurns(stringifyInSteps(await statistics(observe, query)));
  return new TextEncoder().encode(json);
}

async function statistics(observe: ObserveDb, { integration, group_by, waiting, backlog_of, ...asked }: StatisticsQuery) {
  const stats = await readStats(observe, asked, integration);
  const groups = group_by === undefined ? undefined : await readStatsBy(observe, asked, group_by);
  const grouped = groups === undefined ? {} : { groups: Array.from(groups, ([id, each]) => ({ id, ...each })) };
  if (backlog_of === undefined) return { ...stats, ...grouped, waiting };
  const times = stats.series.map(({ time }) => time);
  const backlog = await waitingSeries(observe, asked, { integrations: backlog_of, waiting }, times);
  const series = stats.series.map((entry, at) => ({ ...entry, waiting: backlog[at] ?? 0 }));
  return { ...stats, series, ...grouped, waiting };
}
