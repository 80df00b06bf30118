import { expect, test } from 'vitest';
import { canBeAdded, countedEvents, FILTERS, queryOf } from './search.ts';

test('filters that the API does not apply to rejected events are not offered beside them', () => {
  const offered = (status?: string) => FILTERS.filter((name) => canBeAdded(name, status === undefined ? {} : { status }));
  const all = FILTERS.filter((name) => name !== 'time');
  expect(offered()).toEqual(all);
  expect(offered('dropped')).toEqual(all);
  expect(offered('rejected')).toEqual(['pipeline', 'user', 'visitor', 'reason', 'status', 'range']);
});

test('a fixed time is read from the address, and what is no time is left out', () => {
  const [from, to] = ['2026-05-01T12:00:00.000Z', '2026-05-01T12:15:00.000Z'];
  expect(queryOf({ range: `${from}/${to}`, plan: 'violated' })).toEqual({ from, to, plan_violation: true });
  for (const range of [from, `${from}/`, `${from}/soon`, `${from}/${to}/${to}`, 'yesterday'])
    expect(queryOf({ range, plan: 'unknown' }), range).toEqual({});
  expect(Object.keys(queryOf({ range: '24h' }))).toEqual(['from']);
});

test('a number of the statistics leads to the time of the result; without a result, time is that of receipt', () => {
  const [from, to] = ['2026-05-01T12:00:00.000Z', '2026-05-01T12:15:00.000Z'];
  const range = `${from}/${to}`;
  const timed = { outcome_from: from, outcome_to: to };
  expect(queryOf(countedEvents({ range, delivery: 'delivered' }))).toEqual({ delivery: 'delivered', ...timed });
  expect(queryOf(countedEvents({ range, reason: 'bot' }))).toEqual({ reason: 'bot', ...timed });
  expect(queryOf(countedEvents({ range }))).toEqual({ from, to });
  for (const delivery of ['waiting', 'not_delivered'] as const)
    expect(queryOf(countedEvents({ range, delivery }))).toEqual({ delivery, from, to });
  expect(queryOf(countedEvents({ range, status: 'rejected' }))).toEqual({ status: 'rejected', from, to });
  expect(canBeAdded('time', { range, delivery: 'delivered' })).toBe(true);
});
