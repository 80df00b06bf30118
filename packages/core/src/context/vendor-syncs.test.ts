import { expect, test } from 'vitest';
import { COOKIES, idsOfCookies } from './vendor-ids.ts';
import { SYNC_IDS } from './vendor-syncs.ts';

test('every id of a cookie belongs to one vendor, whose sync decides about its consent', () => {
  const cookies = Object.fromEntries([...COOKIES.keys()].map((name) => [name, 'x']));
  const ids = Object.keys(idsOfCookies({ ...cookies, _ga: 'GA1.1.1.2', _ga_AAA: 'GS1.1.1700000000.3' }));
  const owned = [...SYNC_IDS.values()].flat();
  expect(owned.filter((id) => id !== 'ym_uid').sort()).toEqual(ids.sort());
});
