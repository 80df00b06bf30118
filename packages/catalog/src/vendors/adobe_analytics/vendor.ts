/** https://developer.adobe.com/analytics-collection-apis/docs/ (AdobeDocs/analytics-collection-apis, methods/data-insertion). */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { contextLines } from '../shared/context.ts';
import { optionalText, select, text } from '../shared/fields.ts';
import { DISABLED, event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { EVENT_KINDS } from '../shared/standard-events.ts';

const ECID = ['context.vendor_ids.ecid', 'context.vendor_ids.mcid'];
const HAS_ECID = { any: ECID.map((field) => ({ field, op: 'exists' })) };
const GLOBAL = [
  from(ECID, 'marketingCloudVisitorId', ['to_string']),
  from('parameters.org_id', 'marketingCloudOrgId', [], { when: HAS_ECID }),
  // A visitor id of one's own wins over the ECID, so it is sent only where there is none.
  from(['anonymous_id', 'user_id'], 'visitorId', [use('replace', '[^A-Za-z0-9]'), use('truncate', 100)], { when: { not: HAS_ECID } }),
  from('timestamp', 'timestamp', ['to_unix_seconds'], { when: { field: 'parameters.timestamps', op: 'eq', value: 'optional' } }),
  ...contextLines('', {
    ip: 'ipAddress',
    user_agent: 'userAgent',
    locale: 'language',
    url: 'pageUrl',
    referrer: 'referrer',
    utm_campaign: 'campaign',
  }),
  // An element has one text value, so a list is sent as JSON text.
  from('properties', '$', [use('omit', 'products'), 'flatten', 'string_values', use('prefix_keys', 'contextData.')]),
  from('event_id', '["contextData.event_id"]'),
  from('user_id', '["contextData.user_id"]'),
];
/** Everything that is not a page: a custom link. */
const LINK = [set('linkType', 'o')];
const commerce = (events: string, products: string | string[]) => [
  ...LINK,
  set('events', events),
  from(products, 'products', ['adobe_products']),
  from('properties.currency', 'currencyCode', ['currency_code']),
];
const fits = (name: string) => ({ field: `properties.${name}`, op: 'matches', value: '^.{1,20}$' });
const lacks = (name: string) => ({ field: `properties.${name}`, op: 'not_exists' });
/** The first id that the event has fits into the 20 bytes of a purchase id. */
const SHORT_ID = {
  any: [
    fits('order_id'),
    { all: [lacks('order_id'), fits('checkout_id')] },
    { all: [lacks('order_id'), lacks('checkout_id'), fits('booking_id')] },
  ],
};
/** Adobe cuts a longer id, and then takes all orders with the same first 20 bytes for one purchase. */
const PURCHASE_ID = [
  from(source.ORDER_ID, 'purchaseId', ['to_string', 'sha256', use('truncate', 20)], { required: true }),
  from(source.ORDER_ID, 'purchaseId', ['to_string'], { when: SHORT_ID }),
];
const ONE = (events: string) => commerce(events, 'properties');
const MANY = (events: string) => commerce(events, 'properties.products');

export default defineVendor({
  key: 'adobe_analytics',
  name: 'Adobe Analytics',
  description: 'Page views, links and orders into Adobe Analytics through the Data Insertion API (XML).',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://developer.adobe.com/analytics-collection-apis/docs/methods/data-insertion/',
  api_version: { version: 'Data Insertion API', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'Note the tracking server (trackingServerSecure) of your implementation and the ID of the report suite (Admin, Report suites).',
    'Find out whether the report suite accepts timestamps (Admin, Report suites, Edit settings, General, Timestamp configuration).',
    'Map eVars, props and events in the mapping of this integration, or by processing rules from context data.',
  ],
  see_it:
    'Open Workspace and add a real-time report, or look for the hit in a data feed; a processed hit shows in reports after 30 to 90 minutes.',
  notes: [
    'Properties are sent as context data, which processing rules turn into eVars and props.',
    'Products are sent as category;product;quantity;total. Adobe counts quantity and total for purchases only.',
    'Adobe removes repeated purchases by purchaseId, for 37 months. An order id of more than 20 characters is sent as the first 20 of its SHA-256.',
    'Every event but a page is a custom link; Adobe ignores the page name of a link.',
    'A 200 with the status FAILURE is a rejection.',
  ],
  config_fields: [
    text(
      'tracking_server',
      'Tracking server',
      'example.data.adobedc.net',
      'The host that your site sends its hits to (trackingServerSecure), without https://.',
      { pattern: '^[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$', pattern_hint: 'a host name without https:// and without slashes' },
    ),
    text('report_suite_id', 'Report suite ID', 'examplersid', 'Admin, Report suites. Several are separated by commas.', {
      pattern: '^[A-Za-z0-9._-]+(,[A-Za-z0-9._-]+)*$',
      pattern_hint: 'IDs of report suites, separated by commas',
    }),
    select(
      'timestamps',
      'Timestamps',
      ['optional', 'none'],
      'optional: the report suite accepts timestamps (optional or required). none: it does not, and would drop such hits.',
    ),
    optionalText(
      'org_id',
      'IMS organisation ID',
      '0123456789ABCDEF01234567@AdobeOrg',
      'Admin, Experience Cloud. Sent with the ECID of a visitor (context.vendor_ids.ecid).',
      { pattern: '^[0-9A-Fa-f]{24}@AdobeOrg$', pattern_hint: '24 characters and @AdobeOrg' },
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.tracking_server}}/b/ss//6',
    headers: { Accept: 'application/xml' },
    fill: { scXmlVer: '1.0', reportSuiteID: '{{parameters.report_suite_id}}' },
    body: { kind: 'xml', root: 'request' },
    answers: [
      { status: [200], when: { field: 'body', op: 'contains', value: '<status>FAILURE</status>' }, verdict: 'refused' },
      RETRY_TIMEOUT,
    ],
  },
  event_name: { target: 'linkName', only_with: 'linkType', max_length: 100 },
  require_one_of: [['marketingCloudVisitorId', 'visitorId']],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: GLOBAL,
    lines: Object.fromEntries(EVENT_KINDS.map((kind) => [kind, LINK])),
    instead: {
      'Product Viewed': ONE('prodView'),
      'Product Added': ONE('scAdd'),
      'Product Removed': ONE('scRemove'),
      'Cart Viewed': MANY('scView'),
      'Checkout Started': MANY('scCheckout'),
      'Order Completed': [...MANY('purchase'), ...PURCHASE_ID],
    },
    others: {
      '@page': event(undefined, [
        from(['name', 'context.page.title', 'context.page.path'], 'pageName'),
        from(source.OWN_PAGE_URL, 'pageUrl'),
      ]),
      '@screen': event(undefined, [from('name', 'pageName', [], { required: true })]),
      '@identify': DISABLED,
      '@group': DISABLED,
    },
    defaults: { action: 'map', mappings: LINK },
  }),
});
