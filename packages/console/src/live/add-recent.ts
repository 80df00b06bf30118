import { noOutcomes } from '@firsthand/core/outcome/stats-entry.ts';
import type { components } from '../generated/api.d.ts';
import type { Recent, RecentEntry } from './recent-counts.ts';

type Statistics = components['schemas']['Statistics'];
type Counts = components['schemas']['StatisticsCounts'];
type Entry = components['schemas']['StatisticsEntry'];

/** Statistics up to a minute, which the live counts continue. Without `since` they are complete by themselves. */
export type BaseStatistics = Statistics & {
  since?: number | undefined;
  /** The first minute that counts. */
  from?: string;
};

/** Adds the minutes since `since`. Percentiles stay those of the statistics, which have all latencies. */
export function addRecent(base: BaseStatistics, recent: Recent | undefined, stepMs: number): BaseStatistics {
  const { since } = base;
  if (since === undefined || recent === undefined) return base;
  const own = continued(base, recent.series, since, stepMs);
  const last = own.series.at(-1);
  if (last?.waiting !== undefined) own.series[own.series.length - 1] = { ...last, waiting: recent.waiting };
  const { groups } = base;
  if (groups === undefined) return { ...base, ...own, waiting: recent.waiting };
  const byId = new Map(recent.groups?.map(({ id, series }) => [id, series]));
  const known = new Set(groups.map(({ id }) => id));
  const fresh = [...byId.keys()].filter((id) => !known.has(id)).map((id) => ({ id, series: [], totals: noOutcomes() }));
  return {
    ...base,
    ...own,
    waiting: recent.waiting,
    groups: [...groups, ...fresh].map((group) => ({ ...group, ...continued(group, byId.get(group.id) ?? [], since, stepMs) })),
  };
}

function continued(
  { series, totals }: { series: Entry[]; totals: Counts },
  minutes: readonly RecentEntry[],
  since: number,
  stepMs: number,
) {
  const entries = [...series];
  let sum = totals;
  for (const minute of minutes) {
    if (Date.parse(minute.time) < since) continue;
    sum = plus(sum, minute);
    const time = new Date(Math.floor(Date.parse(minute.time) / stepMs) * stepMs).toISOString();
    const last = entries.at(-1);
    if (last !== undefined && last.time >= time) entries[entries.length - 1] = plus(last, minute);
    else entries.push(plus({ time, ...noOutcomes(), ...(last?.waiting === undefined ? {} : { waiting: 0 }) }, minute));
  }
  return { series: entries, totals: sum };
}
function plus<T extends Counts>(counts: T, { time: _time, p50_ms, p99_ms, waiting: _waiting, ...more }: RecentEntry): T {
  const sum: Record<string, unknown> = { ...counts, p50_ms: counts.p50_ms ?? p50_ms ?? null, p99_ms: counts.p99_ms ?? p99_ms ?? null };
  for (const [name, value] of Object.entries(more)) {
    if (typeof value === 'number') sum[name] = ((sum[name] as number | undefined) ?? 0) + value;
    else {
      const parts = { ...(sum[name] as Record<string, number> | undefined) };
      for (const [part, n] of Object.entries(value)) parts[part] = (parts[part] ?? 0) + n;
      sum[name] = parts;
    }
  }
  return sum as T;
}
