/** Vibe server-to-server conversions. Known through public integrations only, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { adEvents } from '../shared/ad-events.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { idOf, optionalText, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

/** Vibe counts in US dollars. */
const IS_USD = { field: 'properties.currency', op: 'matches', value: '^[Uu][Ss][Dd]$' };
const ORDER = [from(source.ORDER_ID, 'ed.purchase_id', ['to_string']), ...orderTotal('ed.price_usd', { when: IS_USD })];

const variants = blueprints({
  names: adEvents({ purchase: 'purchase', registration: 'signup', lead: 'lead' }),
  global: [
    from('event_id', 'eid'),
    from('parameters.pixel_id', 'aid'),
    from('timestamp', 'ts', ['to_unix_millis']),
    from('context.ip', 'ip', [], { when: source.IS_IPV4 }),
    from('context.user_agent', 'ua'),
    from(source.PAGE_URL, 'url'),
    from('context.vendor_ids.ga_client_id', 'gid'),
  ],
  lines: { purchase: ORDER, booking: ORDER },
  others: { '@page': event('page_view', [from(source.OWN_PAGE_URL, 'url')]), 'Application Installed': event('install', []) },
});

const send = (path: string): RequestDefinition => ({
  method: 'POST',
  url: `https://t.vibe.co/s2s-conversion/events${path}`,
  body: { kind: 'json' },
  answers: [RETRY_TIMEOUT],
});

export default defineVendor({
  key: 'vibe',
  name: 'Vibe',
  description: 'Conversions of Vibe’s streaming TV ads, matched by household.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://help.vibe.co/',
  api_version: { version: 's2s-conversion', checked: '2026-11-16' },
  setup_steps: ['In Vibe open Settings, Web Tracking, and copy the pixel ID.'],
  see_it: 'Open Settings, Web Tracking: the number of events shows within the hour.',
  notes: [
    'Open: Vibe publishes no documentation. Fields and path were seen in public integrations, among them Vibe’s own for Segment, which has a path of its own.',
    'Vibe matches by household: the visitor’s IPv4 address is required, and events with an IPv6 address are dropped.',
    'Amounts are sent for US dollars only.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('pixel_id', 'Pixel ID', 'pX1234', 'Vibe, Settings, Web Tracking.', idOf('the id of a pixel')),
    optionalText(
      'partner_path',
      'Partner path',
      'firsthand',
      'Only if Vibe gave you an address of your own: its last part.',
      idOf('letters, digits, dashes'),
    ),
  ],
  requests: [
    { ...send('/{{parameters.partner_path}}'), name: 'partner', when: { field: 'parameters.partner_path', op: 'exists' } },
    { ...send(''), name: 'account' },
  ],
  event_name: { target: 'a' },
  json_text: ['ed'],
  require_one_of: [['ip']],
  max_event_age_hours: 168,
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  variants,
});
