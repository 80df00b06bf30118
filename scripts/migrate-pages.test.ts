/** What the migration guides print is run as printed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../packages/core/src/json.ts';
import { finish } from '../packages/core/src/steps.ts';
import { validateTrackingPlanInSteps } from '../packages/core/src/tracking-plan/tracking-plan.ts';
import { findRoute } from '../packages/server/src/roles/ingest/routes.ts';

const guide = (name: string) => readFileSync(join(import.meta.dirname, `../docs/guides/migrate/${name}.md`), 'utf8');
const snowplow = guide('snowplow');
const ECOMMERCE = 'contexts_com_snowplowanalytics_snowplow_ecommerce_';

test.each([
  ['snowplow', ['/com.snowplowanalytics.snowplow/tp2', '/i']],
  ['posthog', ['/e/', '/i/v0/e/', '/batch/']],
])('no path of the protocol that the guide for %s names is answered', (name, paths) => {
  for (const path of paths) {
    expect(guide(name)).toContain(`\`${path}\``);
    expect(findRoute(path), path).toBeUndefined();
  }
});

test.each([
  [
    'an order',
    'transaction',
    { transaction_1: [{ transaction_id: 'o-1', revenue: 42.5, currency: 'EUR' }], product_1: [{ id: 'p-1', price: 42.5 }] },
    {
      event: 'Order Completed',
      properties: { order_id: 'o-1', total: 42.5, currency: 'EUR', products: [{ product_id: 'p-1', price: 42.5 }] },
    },
  ],
  [
    'a refund',
    'refund',
    { refund_1: [{ transaction_id: 'o-1', refund_amount: 10 }] },
    { event: 'Order Refunded', properties: { order_id: 'o-1', total: 10 } },
  ],
  [
    'one product',
    'product_view',
    { product_1: [{ id: 'p-1', name: 'Tea' }] },
    { event: 'Product Viewed', properties: { product_id: 'p-1', name: 'Tea' } },
  ],
  ['an unknown action', 'promo_view', {}, { event: 'snowplow_ecommerce_action', properties: { type: 'promo_view' } }],
])('the transformation of Snowplow’s e-commerce events: %s', (_name, type, entities, expected) => {
  const code = /```js\n([\s\S]+?)```/.exec(snowplow)?.[1] ?? '';
  const transform = new Function(`${code}; return transform;`)() as (event: JsonObject) => JsonObject;
  const named = Object.fromEntries(Object.entries(entities).map(([name, list]) => [ECOMMERCE + name, list]));
  const event = { event: 'snowplow_ecommerce_action', properties: { type }, context: { snowplow: named } };
  expect(transform(event)).toMatchObject(expected);
});

test('a schema of Iglu is a valid tracking plan as it is', () => {
  const plan = /tracking-plan[\s\S]+?-d '([\s\S]+?)'\n```/.exec(snowplow)?.[1] ?? '';
  expect(plan).toContain('iglucentral.com');
  expect(finish(validateTrackingPlanInSteps(JSON.parse(plan)))).toEqual([]);
});
