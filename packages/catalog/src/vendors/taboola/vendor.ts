/** Taboola bulk server-to-server conversions. developers.taboola.com/pixel and taboola/backstage-api-java-client, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { digits, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const variants = blueprints({
  names: adEvents({
    search: 'search',
    list: 'view_content',
    view: 'view_content',
    cart: 'add_to_cart',
    wishlist: 'add_to_wishlist',
    checkout: 'start_checkout',
    payment: 'add_payment_info',
    purchase: 'make_purchase',
    registration: 'complete_registration',
    lead: 'lead',
    trial: 'start_trial',
    subscribe: 'subscribe',
  }),
  global: [from(source.clickId('tblci'), 'click-id', [], { required: true }), from('timestamp', 'timestamp', ['to_unix_millis'])],
  lines: adLines({ value: 'revenue', currency: 'currency', count: 'quantity', order_id: 'orderid' }),
  others: { '@page': event('page_view', []), 'Application Installed': event('app_install', []) },
});

export default defineVendor({
  key: 'taboola',
  name: 'Taboola',
  description: 'Conversions of Taboola ads, by click id, through the bulk server-to-server endpoint.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://developers.taboola.com/pixel/docs/bulk-submit-s2s-conversions',
  api_version: { version: 'log/3', checked: '2026-11-16' },
  setup_steps: [
    'In Realize (Taboola Ads) copy the numeric account ID.',
    'Under Tracking create a conversion of the type Event for each event, with the event name below.',
    'Let the collector remember the click id tblci: only events with it are sent.',
  ],
  see_it: 'Open Tracking, Conversions: the conversion turns to Active within the hour.',
  notes: [
    'Open: orderid is on the page of the single postback. In the bulk request it was seen in public integrations only; Taboola’s Java client does not have it.',
    'Taboola answers 204 and does not validate bulk requests. It knows AUD, BRL, CAD, CNY, EUR, GBP, HKD, ILS, INR, JPY, KRW, MXN, NZD, RUB, SGD, THB, TRY, USD and ZAR. Other currencies are not on its list.',
    'The event name must be that of the conversion in Realize, to the letter. Taboola drops other names silently.',
    'No personal data is sent: Taboola matches by click id.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('account_id', 'Account ID', '1234567', 'Realize, Account settings: the numeric ID.', digits('the digits of an account id')),
  ],
  request: {
    method: 'POST',
    url: 'https://trc.taboola.com/{{parameters.account_id}}/log/3/bulk-s2s-action',
    body: { kind: 'json_list', under: 'actions' },
    batch: { max_items: 1_000, max_bytes: 2_000_000, interval_ms: 5_000 },
    answers: [{ status: [400, 422], verdict: 'refused', reason: 'body', isolate: true }, RETRY_TIMEOUT],
  },
  event_name: { target: 'name' },
  together: [['revenue', 'currency']],
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  variants,
});
