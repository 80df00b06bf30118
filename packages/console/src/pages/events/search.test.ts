import { expect, test } from 'vitest';
import { canBeAdded, FILTERS } from './search.ts';

test('filters that the API does not apply to rejected events are not offered beside them', () => {
  const offered = (status?: string) => FILTERS.filter((name) => canBeAdded(name, status === undefined ? {} : { status }));
  expect(offered()).toEqual(FILTERS);
  expect(offered('dropped')).toEqual(FILTERS);
  expect(offered('rejected')).toEqual(['pipeline', 'user', 'visitor', 'reason', 'status', 'range']);
});
