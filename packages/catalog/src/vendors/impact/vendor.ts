/** impact.com Conversions API. OpenAPI description v14, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { HAS_PRICES, orderTotal, pricedProducts } from '../shared/commerce.ts';
import { deviceIds } from '../shared/device.ts';
import { digits, eventTable, idOf, secret, text } from '../shared/fields.ts';
import { from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { EMAIL_IS_HASHED, PLAIN_EMAIL } from '../shared/user-data.ts';

const ORDER = [
  from('properties.currency', 'CurrencyCode', ['currency_code'], { required: true }),
  // impact.com subtracts it from the items. The subtotal of an order without items is already net of it.
  from('properties.discount', 'OrderDiscount', ['to_number'], { when: HAS_PRICES }),
  from('properties.shipping', 'OrderShipping', ['to_number']),
  from('properties.tax', 'OrderTax', ['to_number']),
  from('properties.coupon', 'OrderPromoCode'),
  // Only for orders without items, or whose items have no prices.
  ...orderTotal('OrderSubTotalPostDiscount', { when: { not: HAS_PRICES } }, ['properties.subtotal', ...source.REVENUE]),
  ...pricedProducts('items', {
    ...{ id: 'ItemSku', name: 'ItemName', category: 'ItemCategory' },
    ...{ quantity: 'ItemQuantity', price: 'ItemPrice', discount: 'ItemDiscount' },
  }),
];

const variants = blueprints({
  // impact knows events by their event type. The table enables an event and gives its type.
  names: {},
  global: [
    from('parameters.campaign_id', 'CampaignId'),
    from('timestamp', 'EventDate', ['to_iso8601']),
    from([...source.ORDER_ID, 'event_id'], 'OrderId', ['to_string']),
    from([...source.clickId('irclickid'), ...source.clickId('im_ref')], 'ClickId'),
    from('user_id', 'CustomerId'),
    ...deviceIds({ aaid: 'GoogAId', idfa: 'AppleIfa', idfv: 'AppleIfv' }),
    from(source.EMAIL, 'CustomerEmail', [PLAIN_EMAIL, 'sha1']),
    // impact.com takes both hashes, so one from the browser goes as it is.
    from(source.EMAIL, 'CustomerEmail', ['lowercase'], { when: EMAIL_IS_HASHED }),
    from(source.CITY, 'CustomerCity', ['trim']),
    from(source.STATE, 'CustomerRegion', ['trim']),
    from(source.POSTAL_CODE, 'CustomerPostCode', ['trim']),
    from(source.COUNTRY, 'CustomerCountry', ['country_code', 'uppercase']),
    from('context.ip', 'IpAddress'),
    from('context.user_agent', 'UserAgent'),
    from(source.AD_CONSENT, 'TrackingConsent', ['to_boolean']),
  ],
  lines: { purchase: ORDER, booking: ORDER, subscription: ORDER },
});

const ANSWERS: AnswerRule[] = [
  { status: [400], verdict: 'refused', reason: 'body.errors[0].message' },
  { status: [401, 403], verdict: 'refused', reason: 'body.Message' },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'impact',
  name: 'impact.com',
  description: 'Conversions of impact.com partners: orders with their items, leads and other actions.',
  category: 'advertising',
  group: 'affiliate',
  status: 'ga',
  website: 'https://integrations.impact.com/impact-brand/reference/submit-a-conversion',
  api_version: { version: 'v14', checked: '2026-11-16' },
  setup_steps: [
    'In impact.com open Settings, API, and copy the account SID and the auth token (with write access to Conversions).',
    'Copy the program (campaign) ID, and the ID of the event type for each event from Settings, Event types.',
    'Let the collector remember the click id irclickid.',
  ],
  see_it: 'Open Optimize, Actions, or Engage, Actions listing: the conversion shows with its order id.',
  notes: [
    'The answer means queued. impact.com decides on the action later; see API submissions there.',
    'The e-mail address is sent as SHA-1: impact.com refuses plain addresses.',
    'The advertising consent of the visitor is sent as TrackingConsent where it is known.',
    'A discount of the order is sent only together with items, because impact.com subtracts it from their prices.',
    'An event needs a click id, a customer id, a promo code or a device id. The hashed e-mail address alone credits no partner.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('account_sid', 'Account SID', 'IRexampleSid1234567890', 'Settings, API.', idOf('the account SID')),
    secret('auth_token', 'Auth token', 'exampleAuthToken0123456789', 'Settings, API.'),
    text('campaign_id', 'Program ID', '1000', 'The program menu; also called campaign ID.', digits()),
    eventTable(
      'event_types',
      'Event types',
      text('event_type_id', 'Event type ID', '20456', 'Settings, Event types.', digits()),
      'Events and the event type of each. A row enables its event.',
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://api.impact.com/Advertisers/{{parameters.account_sid}}/Conversions',
    headers: { Accept: 'application/json' },
    auth: { kind: 'basic', username: '{{parameters.account_sid}}', password: '{{parameters.auth_token}}' },
    body: { kind: 'form', numbered: 'items' },
    answers: ANSWERS,
  },
  event_name: { target: 'EventTypeId' },
  event_table: { field: 'event_types', event: 'event', vendor_event_name: 'event_type_id' },
  compact: [{ path: 'items', needs: ['ItemSku'] }],
  require_one_of: [['ClickId', 'CustomerId', 'OrderPromoCode', 'GoogAId', 'AppleIfa', 'AppleIfv']],
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  variants,
});
