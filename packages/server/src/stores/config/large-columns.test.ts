import { integration } from '@firsthand/core/config/integration.ts';
import { pipeline } from '@firsthand/core/config/pipeline.ts';
import type { ReadJson } from '@firsthand/core/config/resource.ts';
import { transformation } from '@firsthand/core/config/transformation.ts';
import { webhookSource } from '@firsthand/core/config/webhook-source.ts';
import { expect, test } from 'vitest';
import { LARGE_COLUMNS } from './large-columns.ts';

test.each([
  ['pipelines', pipeline],
  ['integrations', integration],
  ['transformations', transformation],
  ['webhook_sources', webhookSource],
] as const)('every JSON column of %s counts: changed pipelines and sources were sized without some of theirs', (table, resource) => {
  const columns: string[] = [];
  const note: ReadJson = (field, _text, empty) => {
    columns.push(field);
    return empty;
  };
  const anyRow = new Proxy({}, { get: () => '{}' });
  (resource.fromRow as (row: object, read: ReadJson) => unknown)(anyRow, note);
  expect(columns.length).toBeGreaterThan(0);
  expect(LARGE_COLUMNS[table]).toEqual(expect.arrayContaining(columns));
});
