/** AdRoll (NextRoll) server-to-server API. apidocs.nextroll.com/server-to-server-api and AdRoll/server-to-server, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { oneBadFailsAll } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { advertisingId } from '../shared/device.ts';
import { flag, idOf, secret, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const variants = blueprints({
  names: adEvents({
    search: 'productSearch',
    list: 'productSearch',
    view: 'pageView',
    cart: 'addToCart',
    purchase: 'purchase',
    lead: 'formFill',
    demo: 'demoRequest',
    trial: 'signupTrial',
    subscribe: 'signupPlan',
  }),
  global: [
    from('parameters.advertisable_eid', 'advertisable_eid'),
    from('parameters.pixel_eid', 'pixel_eid'),
    from(source.PAGE_URL, 'page_location', [], { required: true }),
    from('context.ip', 'ip', [], { required: true }),
    from('context.user_agent', 'user_agent'),
    from('timestamp', 'timestamp', ['to_unix_seconds']),
    from(source.clickId('adct'), 'identifiers.adct'),
    from('context.vendor_ids.adroll_fpc', 'identifiers.first_party_cookie'),
    from(source.EMAIL, 'identifiers.email_sha256', ['normalize_email', 'sha256']),
    from('user_id', 'identifiers.user_id'),
    advertisingId('identifiers.device_id'),
  ],
  lines: adLines({
    products: {
      at: 'event_attributes.products',
      names: { id: 'product_id', category: 'category', price: 'price', quantity: 'quantity' },
      style: { default_quantity: true },
    },
    value: 'conversion_value',
    currency: 'currency',
    order_id: 'event_attributes.order_id',
    query: 'event_attributes.keywords',
  }),
  others: { '@page': event('pageView', [from(source.OWN_PAGE_URL, 'page_location', [], { required: true })], { enabled: false }) },
});

const SEND: RequestDefinition = {
  method: 'POST',
  url: 'https://srv.adroll.com/api',
  query: { advertisable: '{{parameters.advertisable_eid}}' },
  auth: { kind: 'header', name: 'Authorization', value: 'Token {{parameters.access_token}}' },
  body: { kind: 'json_list' },
  batch: { max_items: 100, max_bytes: 1_000_000, interval_ms: 1_000 },
  answers: oneBadFailsAll(),
};

export default defineVendor({
  key: 'adroll',
  name: 'AdRoll',
  description: 'Events into an AdRoll pixel, for retargeting and measurement.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://apidocs.nextroll.com/server-to-server-api/reference.html',
  api_version: { version: 'srv', checked: '2026-11-16' },
  setup_steps: [
    'In AdRoll copy the advertisable EID and the pixel EID from the pixel code (adroll_adv_id and adroll_pix_id).',
    'Ask your account manager for a server access token.',
  ],
  see_it: 'Open Settings, AdRoll pixel, Event activity: the event shows under its name.',
  test_mode: { field: 'dry_run', value: true, effect: 'AdRoll checks the event and stores nothing.' },
  notes: [
    'Open: NextRoll calls the API subject to change. One copy of its page requires the first-party cookie, another the cookie or the click id.',
    'Page views are disabled, because the AdRoll pixel of the website counts them already. There is no deduplication id.',
    'An event needs the AdRoll cookie or click id, the page and the IP address. A hashed e-mail address or a device id is sent in addition.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'advertisable_eid',
      'Advertisable EID',
      'ABCDEFGHIJKLMNOPQRSTUV',
      'adroll_adv_id in the pixel code.',
      idOf('the EID of an advertisable'),
    ),
    text('pixel_eid', 'Pixel EID', 'ZYXWVUTSRQPONMLKJIHGFE', 'adroll_pix_id in the pixel code.', idOf('the EID of a pixel')),
    secret('access_token', 'Server access token', 'exampletoken0123456789', 'From your account manager.'),
    flag('dry_run', 'Dry run', 'AdRoll checks the events and records nothing.'),
  ],
  requests: [
    {
      ...SEND,
      name: 'dry_run',
      when: { field: 'parameters.dry_run', op: 'eq', value: true },
      query: { advertisable: '{{parameters.advertisable_eid}}', dry_run: '1' },
    },
    SEND,
  ],
  event_name: { target: 'event_name' },
  compact: [{ path: 'event_attributes.products', needs: ['product_id'] }],
  together: [['conversion_value', 'currency']],
  require_one_of: [['identifiers.first_party_cookie', 'identifiers.adct']],
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  variants,
});
