/** The lists of the page on the collector are those of the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SYNC_IDS } from '../packages/core/src/context/vendor-syncs.ts';

const page = readFileSync(join(import.meta.dirname, '../docs/reference/collector.md'), 'utf8');

test('the page names every vendor of vendor_syncs', () => {
  const names = /cookies of the vendors `([a-z0-9_\s]+)`/.exec(page)?.[1]?.split(/\s+/);
  expect(names).toEqual([...SYNC_IDS.keys()]);
});
