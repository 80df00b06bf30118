/** Criteo server-to-server website events, s2s_v0. guides.criteotilt.com/onetag/s2s and public integrations, read on 2026-11-16. */

import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { adEvents } from '../shared/ad-events.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { productList, singleProduct } from '../shared/commerce.ts';
import { digits, optionalText, select, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

const PRODUCT = { id: 'id', price: 'price', quantity: 'quantity' };
const LIST = productList('events[0].item', PRODUCT, { default_quantity: true });
const IDS: JsonObject[] = [from(source.productIds, 'events[0].item', ['to_string', use('take', 3)])];
const ONE: JsonObject[] = [from(source.productId, 'events[0].item', ['to_string'])];
const ADDED = singleProduct('events[0].item', PRODUCT, { default_quantity: true });
const ORDER: JsonObject[] = [
  from(source.ORDER_ID, 'events[0].id', ['to_string'], { required: true }),
  ...LIST,
  from('properties.currency', 'events[0].currency', ['currency_code']),
];

const variants = blueprints({
  names: adEvents({
    search: 'viewList',
    list: 'viewList',
    view: 'viewItem',
    cart: 'addToCart',
    view_cart: 'viewBasket',
    checkout: 'beginCheckout',
    payment: 'addPaymentInfo',
    purchase: 'trackTransaction',
    login: 'login',
  }),
  global: [
    from('timestamp', 'events[0].timestamp', ['to_iso8601']),
    from('parameters.account_id', 'account', ['to_integer']),
    from('parameters.site_type', 'site_type'),
    set('site_type', 'm', { when: source.IS_APP }),
    from(source.PAGE_URL, 'full_url'),
    from(source.REFERRER, 'previous_url'),
    from('context.ip', 'ip'),
    from('context.user_agent', 'useragent'),
    from(['user_id', 'anonymous_id'], 'retailer_visitor_id'),
    from('parameters.caller_id', 'id.mapping_key'),
    from('context.vendor_ids.crto_mapped_user_id', 'id.mapped_user_id'),
    from(source.EMAIL, 'id.email.sha256', ['normalize_email', 'sha256']),
    from(source.EMAIL, 'id.email.md5', [PLAIN_EMAIL, 'md5']),
    from(source.EMAIL, 'id.email.sha256_md5', [PLAIN_EMAIL, 'md5', 'sha256']),
  ],
  lines: {
    search: [...IDS, from('properties.query', 'events[0].keywords', ['to_string'])],
    list: IDS,
    cart: LIST,
    order: LIST,
    trip_order: LIST,
    purchase: ORDER,
    booking: ORDER,
  },
  extra: {
    'Product Viewed': ONE,
    'Offer Viewed': ONE,
    'Hotel Viewed': ONE,
    'Flight Viewed': ONE,
    'Product Added': ADDED,
    'Wishlist Product Added to Cart': ADDED,
    'Offer Selected': ADDED,
  },
  others: { '@page': event('viewPage', [from(source.OWN_PAGE_URL, 'full_url')]) },
});

const ANSWERS: AnswerRule[] = [
  // The body decides inside a 200.
  { status: ['2xx'], when: { field: 'body.errors[0]', op: 'exists' }, verdict: 'refused', reason: 'body.errors' },
  // Another region takes the events. They wait until the host is corrected.
  { status: [301, 302, 307, 308], verdict: 'unavailable', reason: 'headers.location' },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'criteo',
  name: 'Criteo',
  description: 'Website events into Criteo through its server-to-server endpoint, for retargeting and measurement.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://guides.criteotilt.com/onetag/s2s/',
  api_version: { version: 's2s_v0', checked: '2026-11-16' },
  setup_steps: [
    'In Criteo Commerce Growth copy the account ID (partner ID).',
    'Ask Criteo for server-to-server access and for a caller ID.',
    'Let the visitor’s browser fetch the GUM ID from Criteo and store it in the first-party cookie crto_mapped_user_id: Criteo matches visitors by it.',
  ],
  see_it: 'Open Events Explorer in Commerce Growth: the event shows within a day.',
  notes: [
    'Open: the names of the fields inside an event were seen in the documentation of the browser tag, which the server endpoint shares.',
    'Open: the user agent is useragent in two public integrations and user_agent in a third.',
    'Open: Criteo asks for events in near real time; one integration reads this as fifteen minutes. Later events are sent all the same.',
    'Criteo answers 200 and names its reasons in errors: such an event is rejected.',
    'Criteo redirects events to a regional host. Redirects are not followed, so choose the host of your region.',
    'The GUM ID counts only together with the caller ID. Without both and without an e-mail address an event cannot be matched and is dropped.',
    'viewHome is sent for a page by setting vendor_event_name of a copy of the page entry.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'account_id',
      'Account ID',
      '12345',
      'Criteo, Account settings; also called partner ID.',
      digits('the digits of a Criteo account id'),
    ),
    optionalText('caller_id', 'Caller ID', 'FIRSTHAND1', 'Given by Criteo with the server-to-server access. The GUM ID needs it.'),
    select(
      'host',
      'Host',
      ['widget.criteo.com', 'widget.eu.criteo.com', 'widget.us.criteo.com', 'widget.as.criteo.com'],
      'The region of your Criteo account: eu, us or as (Asia). A wrong one is answered with a redirect.',
    ),
    select('site_type', 'Site type', ['d', 'm', 't'], 'Of the website: d desktop, m mobile, t tablet. Apps are always m.'),
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.host}}/m/event',
    query: { version: 's2s_v0' },
    body: { kind: 'json' },
    answers: ANSWERS,
  },
  event_name: { target: 'events[0].event' },
  compact: [{ path: 'events[0].item', needs: ['id'] }],
  together: [['id.mapping_key', 'id.mapped_user_id']],
  require_one_of: [['id.mapped_user_id', 'id.email']],
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
