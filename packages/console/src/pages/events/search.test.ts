import { expect, test } from 'vitest';
import { canBeAdded, FILTERS, queryOf } from './search.ts';

test('filters that the API does not apply to rejected events are not offered beside them', () => {
  const offered = (status?: string) => FILTERS.filter((name) => canBeAdded(name, status === undefined ? {} : { status }));
  expect(offered()).toEqual(FILTERS);
  expect(offered('dropped')).toEqual(FILTERS);
  expect(offered('rejected')).toEqual(['pipeline', 'user', 'visitor', 'reason', 'status', 'range']);
});

test('a fixed time is read from the address, and what is no time is left out', () => {
  const [from, to] = ['2026-05-01T12:00:00.000Z', '2026-05-01T12:15:00.000Z'];
  expect(queryOf({ range: `${from}/${to}`, plan: 'violated' })).toEqual({ from, to, plan_violation: true });
  for (const range of [from, `${from}/`, `${from}/soon`, `${from}/${to}/${to}`, 'yesterday'])
    expect(queryOf({ range, plan: 'unknown' }), range).toEqual({});
  expect(Object.keys(queryOf({ range: '24h' }))).toEqual(['from']);
});
