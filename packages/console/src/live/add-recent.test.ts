import { expect, test } from 'vitest';
import { addRecent, type BaseStatistics } from './add-recent.ts';
import type { Recent } from './recent-counts.ts';

const at = (time: string) => `2026-05-01T${time}:00.000Z`;
const counts = (some: object) => ({ received: 0, received_by_source: {}, dropped: {}, delivered: 0, p50_ms: null, p99_ms: null, ...some });
const base = (series: object[], some: object = {}) =>
  ({ series, totals: counts({ received: 10 }), waiting: 4, since: Date.parse(at('11:59')), ...some }) as BaseStatistics;
const recent: Recent = {
  series: [
    { time: at('11:58'), received: 100 },
    { time: at('11:59'), received: 1, dropped: { bot: 2 } },
    { time: at('12:00'), received: 3, received_by_source: { browser: 3 }, p99_ms: 7 },
  ],
  waiting: 9,
};

test('minutes since the end of the statistics are added to the totals and to their hour, which may have just begun', () => {
  const { totals, series, waiting } = addRecent(base([{ time: at('11:00'), waiting: 4, ...counts({ received: 10 }) }]), recent, 3_600_000);
  expect(totals).toMatchObject({ received: 14, received_by_source: { browser: 3 }, dropped: { bot: 2 }, p99_ms: 7 });
  expect(series.map((entry) => [entry.time, entry.received, entry.waiting])).toEqual([
    [at('11:00'), 11, 4],
    [at('12:00'), 3, 9],
  ]);
  expect(waiting).toBe(9);
});

test('groups continue each for itself, also one that has only just begun', () => {
  const groups = [{ id: 'int_1', series: [], totals: counts({ delivered: 5 }) }];
  const since = { time: at('12:00'), delivered: 2 };
  const more = { ...recent, groups: ['int_1', 'int_2'].map((id) => ({ id, series: [since] })) };
  const { groups: now = [] } = addRecent(base([], { groups }), more, 60_000);
  expect(now.map(({ id, totals }) => [id, totals.delivered])).toEqual([
    ['int_1', 7],
    ['int_2', 2],
  ]);
});

test('statistics that are complete, and those without live counts, stay as they are', () => {
  for (const whole of [base([], { since: undefined })]) expect(addRecent(whole, recent, 60_000)).toBe(whole);
  const alone = base([]);
  expect(addRecent(alone, undefined, 60_000)).toBe(alone);
});
