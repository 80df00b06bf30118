/** Microsoft Advertising UET Conversions API v1. Fields from learn.microsoft.com/advertising and public integrations, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { adConsent, deviceIds } from '../shared/device.ts';
import { digits, secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { userData } from '../shared/user-data.ts';

const MSCLKID = '^([0-9a-fA-F]{8})([0-9a-fA-F]{4})([0-9a-fA-F]{4})([0-9a-fA-F]{4})([0-9a-fA-F]{12})$';

const variants = blueprints({
  // Names of the event action in a UET conversion goal. Any name works, if a goal has the same.
  names: adEvents({
    search: 'search',
    list: 'view_item_list',
    view: 'view_item',
    cart: 'add_to_cart',
    remove: 'remove_from_cart',
    view_cart: 'view_cart',
    wishlist: 'add_to_wishlist',
    checkout: 'begin_checkout',
    payment: 'add_payment_info',
    purchase: 'purchase',
    refund: 'refund',
    registration: 'sign_up',
    login: 'login',
    lead: 'generate_lead',
    trial: 'start_trial',
    subscribe: 'subscribe',
    share: 'share',
  }),
  global: [
    set('eventType', 'custom'),
    from('event_id', 'eventId'),
    from('timestamp', 'eventTime', ['to_unix_seconds']),
    from(source.PAGE_URL, 'eventSourceUrl'),
    from('context.page.title', 'pageTitle'),
    from(source.REFERRER, 'referrerUrl'),
    set('adStorageConsent', 'D', { when: source.AD_DENIED }),
    ...adConsent(['adStorageConsent'], ['G', 'D']),
    ...userData(
      'userData',
      { email: 'em', phone: 'ph', ip: 'clientIpAddress', user_agent: 'clientUserAgent' },
      {
        phone: 'e164',
        email: 'unaccented',
      },
    ),
    // 32 hexadecimal digits in the page's address and the cookie; the API takes a UUID.
    from(source.clickId('msclkid'), 'userData.msclkid', [use('replace', MSCLKID, '$1-$2-$3-$4-$5')]),
    from(['context.vendor_ids.uetvid', 'anonymous_id'], 'userData.anonymousId'),
    from('user_id', 'userData.externalId'),
    ...deviceIds({ idfa: 'userData.idfa', aaid: 'userData.gaid' }),
  ],
  lines: adLines({
    products: {
      at: 'customData.items',
      names: { id: 'id', name: 'name', price: 'price', quantity: 'quantity' },
      style: { default_quantity: true },
    },
    ids: 'customData.itemIds',
    value: 'customData.value',
    currency: 'customData.currency',
    order_id: 'customData.transactionId',
    query: 'customData.searchTerm',
  }),
  others: {
    '@page': event('page_view', [set('eventType', 'pageLoad'), from(source.OWN_PAGE_URL, 'eventSourceUrl', [], { required: true })]),
  },
});

const ANSWERS: AnswerRule[] = [
  // One bad event fails the request, as long as continueOnValidationError is not set.
  { status: [400, 422], verdict: 'refused', reason: 'body.error', isolate: true },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'microsoft_advertising',
  name: 'Microsoft Advertising',
  description: 'Website, offline and app events into a UET tag through the Conversions API, for measurement and remarketing.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://learn.microsoft.com/en-us/advertising/guides/uet-conversion-api-integration',
  api_version: { version: 'v1', checked: '2026-11-16' },
  setup_steps: [
    'In Microsoft Advertising open Conversion tracking, UET tag, and copy the tag ID.',
    'On the tag choose Use Conversions API and generate a token. If the choice is missing, ask your account manager: not every account has it yet.',
    'Create a conversion goal of the type Event for each event, with the event name below as its action.',
  ],
  see_it: 'Open Conversion tracking, Conversion goals: the goal turns to Recording conversions within a day.',
  notes: [
    'E-mail addresses are hashed without accents and, whatever the domain, without dots and without +tag before the @, as Microsoft asks.',
    'Open: Microsoft’s guide was read through integrations that cite it (2026-08-25, 2026-09-03), not as a whole; access is given account by account.',
    'Phone numbers are hashed in E.164 with their plus. A click ID of 32 digits is sent as a UUID.',
    'An invalid event fails its request with error.details; the events are then sent one by one. A 200 with error.details has dropped optional fields only.',
    'externalId is your user id as it is: use one that names nobody, and the same one in Microsoft’s ID sync.',
    'Microsoft deduplicates with the UET tag by eventName and eventId: send the same id as event_id from the tag.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('tag_id', 'UET tag ID', '12345678', 'Conversion tracking, UET tag.', digits('the digits of a UET tag id')),
    secret('access_token', 'Conversions API token', 'eyJexampletoken0123456789', 'Conversion tracking, UET tag, Use Conversions API.'),
  ],
  request: {
    method: 'POST',
    url: 'https://capi.uet.microsoft.com/v1/{{parameters.tag_id}}/events',
    auth: { kind: 'bearer', token: '{{parameters.access_token}}' },
    body: { kind: 'json_list', under: 'data' },
    batch: { max_items: 1_000, max_bytes: 1_000_000, interval_ms: 1_000 },
    answers: ANSWERS,
  },
  event_name: { target: 'eventName' },
  compact: [{ path: 'customData.items', needs: ['id'] }],
  together: [['customData.value', 'customData.currency']],
  require_one_of: [
    ['userData.msclkid', 'userData.em', 'userData.ph', 'userData.anonymousId', 'userData.externalId', 'userData.idfa', 'userData.gaid'],
  ],
  max_event_age_hours: 168,
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
