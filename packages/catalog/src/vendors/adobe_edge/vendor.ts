/** https://developer.adobe.com/data-collection-apis/docs/endpoints/collect/ (AdobeDocs/data-collection-apis). */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal, productList, singleProduct } from '../shared/commerce.ts';
import { secret, text } from '../shared/fields.ts';
import { DISABLED, event, from, set, use } from '../shared/mapping.ts';
import { clientCredentialsAt } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';
import { OWN_NAMES, type StandardEvent } from '../shared/standard-events.ts';

const ECID = ['context.vendor_ids.ecid', 'context.vendor_ids.mcid'];
const HAS_ECID = { any: ECID.map((field) => ({ field, op: 'exists' })) };
/** Adobe rejects an FPID that is not a random UUID (version 4). */
const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$';
const HAS_FPID = { all: [{ not: HAS_ECID }, { field: 'anonymous_id', op: 'matches', value: UUID }] };
/** An address, or the hash of one: an empty text or `n/a` identifies nobody. */
const MAIL = '^(\\s*[^@\\s]+@[^@\\s]+\\s*|[0-9a-fA-F]{64})$';
const HAS_EMAIL = { any: source.EMAIL.map((field) => ({ field, op: 'matches', value: MAIL })) };
const MAIL_IS_PRIMARY = { all: [HAS_EMAIL, { not: HAS_ECID }, { not: { field: 'anonymous_id', op: 'matches', value: UUID } }] };
const id = (namespace: string) => `xdm.identityMap.${namespace}[0]`;
const GLOBAL = [
  from('event_id', 'xdm._id'),
  from('timestamp', 'xdm.timestamp'),
  from(ECID, `${id('ECID')}.id`, ['to_string']),
  set(`${id('ECID')}.primary`, true, { when: HAS_ECID }),
  from('anonymous_id', `${id('FPID')}.id`, [], { when: HAS_FPID }),
  set(`${id('FPID')}.primary`, true, { when: HAS_FPID }),
  from(source.EMAIL, `${id('Email_LC_SHA256')}.id`, ['normalize_email', 'sha256']),
  set(`${id('Email_LC_SHA256')}.primary`, true, { when: MAIL_IS_PRIMARY }),
  from(source.PAGE_URL, 'xdm.web.webPageDetails.URL'),
  from('context.page.title', 'xdm.web.webPageDetails.name'),
  from(source.REFERRER, 'xdm.web.webReferrer.URL'),
  from('context.ip', 'xdm.environment.ipV4', [], { when: { field: 'context.ip', op: 'matches', value: '^\\d+\\.\\d+\\.\\d+\\.\\d+$' } }),
  from('context.user_agent', 'xdm.environment.browserDetails.userAgent'),
  from('properties', 'data'),
  from('user_id', 'data.user_id'),
];
const PRODUCT = { id: 'SKU', name: 'name', quantity: 'quantity' };
const item = (name: string) => `xdm.productListItems[*].${name}`;
const LIST: JsonObject[] = [
  ...productList('xdm.productListItems', PRODUCT, { default_quantity: true }),
  from('properties.products', item('priceTotal'), [use('multiply_fields', 'price', 'quantity')]),
  from('properties.currency', item('currencyCode'), ['currency_code']),
];
const ONE: JsonObject[] = [
  ...singleProduct('xdm.productListItems', PRODUCT),
  from('properties.price', 'xdm.productListItems[0].priceTotal', ['to_number']),
  from('properties.price', 'xdm.productListItems[0].priceTotal', [use('multiply', { source: 'properties.quantity' })]),
  from('properties.currency', 'xdm.productListItems[0].currencyCode', ['currency_code'], { when: source.HAS_PRODUCT }),
];
const ORDER = [
  from(source.ORDER_ID, 'xdm.commerce.order.purchaseID', ['to_string'], { required: true }),
  ...orderTotal('xdm.commerce.order.priceTotal'),
  from('properties.currency', 'xdm.commerce.order.currencyCode', ['currency_code']),
];
const COMMERCE: [event: StandardEvent, name: string, lines: JsonObject[]][] = [
  ['Product Viewed', 'productViews', ONE],
  ['Product Added', 'productListAdds', ONE],
  ['Product Removed', 'productListRemovals', ONE],
  ['Product Added to Wishlist', 'saveForLaters', ONE],
  ['Cart Viewed', 'productListViews', LIST],
  ['Checkout Started', 'checkouts', LIST],
  ['Order Completed', 'purchases', [...ORDER, ...LIST]],
];

export default defineVendor({
  key: 'adobe_edge',
  name: 'Adobe Experience Platform Edge',
  description: 'XDM events into Adobe Experience Platform through the Edge Network.',
  category: 'cdp',
  group: 'cdp',
  status: 'ga',
  website: 'https://developer.adobe.com/data-collection-apis/docs/endpoints/collect/',
  api_version: { version: 'ee/v2', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In the Adobe Developer Console create a project with the Experience Platform API and OAuth server-to-server credentials.',
    'In Data Collection open Datastreams, create one with the services that should receive the events, and copy its ID.',
    'Use a schema of the class XDM ExperienceEvent with the field groups for web and commerce details.',
  ],
  see_it: 'Open Data Collection, Assurance or the dataset of the datastream in Experience Platform, and preview its latest batch.',
  notes: [
    'A visitor needs an ECID (context.vendor_ids.ecid), an anonymous id that is a random UUID (version 4; FPID), or an address, which is sent as its hash.',
    'Properties are sent under data; map them in the datastream, or to fields of your own schema (_tenant) here.',
    'The event id is _id, by which Adobe removes duplicates. A 500 is not repeated, as Adobe demands.',
    'Identify and group calls are not sent: profiles belong to a schema of your own.',
    'The fields of commerce are those of Adobe’s own schemas (adobe/xdm). The scopes of the token are those of Adobe’s examples.',
  ],
  config_fields: [
    text('datastream_id', 'Datastream ID', '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11', 'Data Collection, Datastreams.', {
      pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(:\\w+)?$',
      pattern_hint: 'a UUID',
    }),
    text('org_id', 'Organisation ID', '0123456789ABCDEF01234567@AdobeOrg', 'Developer Console, your project, Organization ID.', {
      pattern: '^[0-9A-Fa-f]{24}@AdobeOrg$',
      pattern_hint: '24 characters and @AdobeOrg',
    }),
    text('client_id', 'Client ID', '0123456789abcdef0123456789abcdef', 'Developer Console, your project, OAuth server-to-server.'),
    secret(
      'client_secret',
      'Client secret',
      'p8e-abcdefghijklmnopqrstuvwxyz012345',
      'Developer Console, your project, OAuth server-to-server.',
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://server.adobedc.net/ee/v2/collect',
    query: { datastreamId: '{{parameters.datastream_id}}' },
    headers: { 'x-gw-ims-org-id': '{{parameters.org_id}}', 'x-api-key': '{{parameters.client_id}}' },
    auth: clientCredentialsAt('https://ims-na1.adobelogin.com/ims/token/v3', {
      scope: 'openid,AdobeID,read_organizations,additional_info.projectedProductContext',
    }),
    body: { kind: 'json_list', under: 'events' },
    batch: { max_items: 50, max_bytes: 60_000, interval_ms: 1_000 },
    answers: [
      // 207: accepted, but a service behind the edge reported an error.
      { status: [207], verdict: 'delivered', reason: 'body.errors[0].title' },
      { status: [500], verdict: 'refused', reason: 'body.title' },
      { status: [400, 413, 422], verdict: 'refused', reason: 'body.title', isolate: true },
      RETRY_TIMEOUT,
    ],
  },
  event_name: { target: 'xdm.eventType' },
  compact: [{ path: 'xdm.productListItems', needs: ['SKU'] }],
  require_one_of: [['xdm.identityMap']],
  default_action: 'drop',
  rate: { rps: 100 },
  variants: blueprints({
    names: { ...OWN_NAMES, ...Object.fromEntries(COMMERCE.map(([event, name]) => [event, `commerce.${name}`])) },
    global: GLOBAL,
    lines: {},
    instead: Object.fromEntries(COMMERCE.map(([event, name, lines]) => [event, [set(`xdm.commerce.${name}.value`, 1), ...lines]])),
    others: {
      '@page': event('web.webpagedetails.pageViews', [
        set('xdm.web.webPageDetails.pageViews.value', 1),
        from('name', 'xdm.web.webPageDetails.name'),
        from(source.OWN_PAGE_URL, 'xdm.web.webPageDetails.URL'),
      ]),
      '@identify': DISABLED,
      '@group': DISABLED,
    },
    defaults: { action: 'map' },
  }),
});
