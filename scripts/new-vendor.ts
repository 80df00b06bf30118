/** `npm run new-vendor <key>`: a folder with a definition and cases that pass the suite, ready to be filled in. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.ts';

const [key = ''] = process.argv.slice(2);
if (!/^[a-z][a-z0-9_]*$/.test(key)) {
  console.error('usage: npm run new-vendor <key>, a key in snake_case as in the catalog, for example acme_ads');
  process.exit(1);
}
const folder = join(import.meta.dirname, '../packages/catalog/src/vendors', key);
if (existsSync(folder)) {
  console.error(`${folder} exists already`);
  process.exit(1);
}
const camel = key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const name = key
  .split('_')
  .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  .join(' ');

const vendor = `/** ${name}, API version 1, documentation read on ${new Date().toISOString().slice(0, 10)}. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { itemCount, orderValue, productList, singleProduct, unitValue } from '../shared/commerce.ts';
import { digits, secret, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { userData } from '../shared/user-data.ts';

const PRODUCT = { id: 'id', name: 'name', price: 'price', quantity: 'quantity' };
const PRODUCTS = [...productList('items', PRODUCT, { default_quantity: true }), itemCount('item_count')];

const variants = blueprints({
  // The vendor's names. Events without a name are disabled.
  names: { 'Product Viewed': 'view_item', 'Product Added': 'add_to_cart', 'Order Completed': 'purchase', 'Signed Up': 'sign_up' },
  global: [
    from('event_id', 'event_id'),
    from('timestamp', 'time', ['to_unix_seconds']),
    from(source.PAGE_URL, 'url'),
    ...userData('user', { email: 'em', phone: 'ph', external_id: 'external_id', ip: 'ip', user_agent: 'ua' }, { phone: 'e164' }),
  ],
  lines: {
    product: [...singleProduct('items', PRODUCT, { default_quantity: true }), ...unitValue('data.value')],
    order: [...PRODUCTS, ...orderValue('data')],
    purchase: [...PRODUCTS, ...orderValue('data', { required: true }), from(source.ORDER_ID, 'data.order_id', ['to_string'])],
  },
  others: { '@page': event('page_view', []) },
});

export default defineVendor({
  key: '${key}',
  name: '${name}',
  description: 'Web events into ${name}, for measurement.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://developers.example.com/${key}',
  api_version: { version: 'v1', checked: '${new Date().toISOString().slice(0, 10)}' },
  default_consent_category: 'advertising',
  setup_steps: ['In ${name} open Settings, API, and create an access token.'],
  see_it: 'Open Events: the event shows within some minutes.',
  notes: ['Open: which fields are required.'],
  config_fields: [
    text('account_id', 'Account ID', '1234567890', 'Settings, Account.', digits('the digits of an account id')),
    secret('access_token', 'Access token', 'token-0123456789abcdef', 'Settings, API, Create token.'),
  ],
  request: {
    method: 'POST',
    url: 'https://api.example.com/v1/{{parameters.account_id}}/events',
    auth: { kind: 'bearer', token: '{{parameters.access_token}}' },
    body: { kind: 'json_list', under: 'events' },
    batch: { max_items: 100, max_bytes: 1_000_000, interval_ms: 1_000 },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'name', max_length: 50 },
  require_one_of: [['user.em', 'user.ph', 'user.external_id', 'user.ip']],
  compact: [{ path: 'items', needs: ['id'] }],
  default_action: 'drop',
  rate: { rps: 50 },
  variants,
});
`;

const cases = `import { sentAs, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import ${camel} from './vendor.ts';

const user = { em: HASHED.email, ph: HASHED.phone, external_id: HASHED.user_id, ip: '203.0.113.7', ua: CONTEXT.user_agent };

export default vendorCases(
  ${camel},
  [
    {
      name: 'an order with its products',
      event: orderCompleted(),
      requests: [
        {
          method: 'POST',
          url: 'https://api.example.com/v1/1234567890/events',
          headers: { Authorization: 'Bearer token-0123456789abcdef' },
          body: {
            events: [
              {
                name: 'purchase',
                event_id: 'evt-1',
                time: 1767323045,
                url: 'https://shop.example/checkout?x=1',
                user,
                items: [
                  { id: 'p-1', name: 'Tea', price: 10, quantity: 2 },
                  { id: 'S2', name: 'Cup', price: 22.5, quantity: 1 },
                ],
                item_count: 3,
                data: { value: 42.5, currency: 'EUR', order_id: 'o-1' },
              },
            ],
          },
        },
      ],
    },
    { name: 'an order without a currency is dropped', event: orderCompleted({ currency: null }), dropped: 'missing_required:data.currency' },
    { name: 'an order without a value is dropped', event: orderCompleted({ total: null, revenue: null, products: null }), dropped: 'missing_required:data.value' },
    ...sentAs('events[0].name', { 'Product Viewed': 'view_item', 'Product Added': 'add_to_cart', 'Signed Up': 'sign_up' }),
    { name: 'a page', event: pageViewed(), requests: [{ contains: { 'events[0].name': 'page_view' } }] },
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:user.em' },
    { name: 'an unmapped event is dropped', event: track('Quiz Taken'), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [orderCompleted(), orderCompleted()], reply: { status: 200, body: {} }, verdict: { kind: 'delivered' } },
    { name: 'throttled', events: [orderCompleted()], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'rejected', events: [orderCompleted()], reply: { status: 400 }, verdict: { kind: 'refused' } },
  ],
);
`;

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'vendor.ts'), vendor);
writeFileSync(join(folder, 'cases.ts'), cases);
for (const [command, ...args] of [
  ['biome', 'check', '--write', '--log-level=error', folder],
  ['node', 'scripts/generate-vendor-list.ts'],
  ['node', 'scripts/generate-docs.ts'],
] as const)
  if ((await run(command, [...args])) !== 0) process.exit(1);
console.log(
  `packages/catalog/src/vendors/${key}/{vendor,cases}.ts are written. Test: npx vitest run --project unit packages/catalog -t ${key}`,
);
