/** Quora Conversion API v0. Quora's own server tag (quora/quora-capi-tag), read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { advertisingId } from '../shared/device.ts';
import { digits, secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const variants = blueprints({
  names: adEvents({
    search: 'Search',
    list: 'ViewContent',
    view: 'ViewContent',
    cart: 'AddToCart',
    wishlist: 'AddToWishlist',
    checkout: 'InitiateCheckout',
    payment: 'AddPaymentInfo',
    purchase: 'Purchase',
    registration: 'CompleteRegistration',
    lead: 'GenerateLead',
  }),
  global: [
    from('parameters.account_id', 'account_id', ['to_integer']),
    from('timestamp', 'conversion.timestamp', ['to_unix_micros']),
    from('event_id', 'conversion.event_id'),
    from(source.clickId('qclid', 'qclid'), 'conversion.click_id'),
    // The object must be there; Quora's own tag sends it empty.
    set('user', {}),
    from('context.user_agent', 'device.user_agent'),
    from(source.REFERRER, 'device.referer'),
    from('context.locale', 'device.language', [use('truncate', 2)]),
    advertisingId('device.mobile_device_id'),
  ],
  lines: adLines({ value: 'conversion.value' }),
  others: { '@page': event('Generic', []), 'Application Installed': event('AppInstall', []) },
});

export default defineVendor({
  key: 'quora',
  name: 'Quora Conversion API',
  description: 'Conversions into a Quora Ads account, for measurement and optimisation of ads.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://github.com/quora/quora-capi-tag',
  api_version: { version: 'v0', checked: '2026-11-16' },
  setup_steps: [
    'In Quora Ads Manager copy the account ID from the address of the page.',
    'Open Quora pixel & events, Conversion API, and generate a token.',
  ],
  see_it: 'Open Quora pixel & events, Event activity.',
  notes: [
    'Open: user data (e-mail, phone, address) and its hashing are not published, so none is sent.',
    'Open: there is no field for the currency. The value counts in the currency of the account.',
    'Open: batches, limits and the format of errors.',
    'Quora attributes by the click id qclid. Events without it are accepted but rarely attributed.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'account_id',
      'Account ID',
      '1234567890',
      'Ads Manager: the number in the address of the page.',
      digits('the digits of an account id'),
    ),
    secret('token', 'Conversion API token', 'qa_exampletoken0123456789', 'Ads Manager, Quora pixel & events, Conversion API.'),
  ],
  request: {
    method: 'POST',
    url: 'https://api.quora.com/ads/v0/conversion',
    auth: { kind: 'bearer', token: '{{parameters.token}}' },
    body: { kind: 'json' },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'conversion.event_name' },
  require_one_of: [['conversion.click_id', 'device.user_agent', 'device.mobile_device_id']],
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  variants,
});
