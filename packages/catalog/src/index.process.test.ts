import { expect, test } from 'vitest';
import { loadedVendor, loadVendor, searchVendors, VENDOR_KEYS } from './index.ts';

test('the list of all vendors loads no definition', async () => {
  expect((await searchVendors({})).map(({ key }) => key)).toEqual(VENDOR_KEYS);
  expect(VENDOR_KEYS.filter((key) => loadedVendor(key) !== undefined)).toEqual([]);
  await loadVendor('webhook');
  expect(VENDOR_KEYS.filter((key) => loadedVendor(key) !== undefined)).toEqual(['webhook']);
});
