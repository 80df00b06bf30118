/** Adjust server-to-server events. dev.adjust.com/en/api/s2s-api/events and help.adjust.com, server-to-server events, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { advertisingId } from '../shared/device.ts';
import { eventTable, optionalSecret, select, text } from '../shared/fields.ts';
import { from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const TOKEN = { pattern: '^[a-z0-9]{4,20}$', pattern_hint: 'the letters and digits of a token' };
/** Revenue counts for what was paid, not for carts and checkouts. */
const { purchase, booking, subscription } = adLines({ value: 'revenue', currency: 'currency' });

const variants = blueprints({
  // Adjust knows events by token. The table enables an event and gives its token.
  names: {},
  global: [
    set('s2s', '1'),
    from('parameters.app_token', 'app_token'),
    from('parameters.environment', 'environment'),
    from('timestamp', 'created_at_unix', ['to_unix_seconds']),
    advertisingId('idfa', ['uppercase'], source.IS_APPLE),
    from('context.device.id', 'idfv', ['uppercase'], { when: source.IS_APPLE }),
    advertisingId('gps_adid', ['lowercase'], source.IS_ANDROID),
    from('context.device.id', 'android_id', ['lowercase', use('replace', '-')], { when: source.IS_ANDROID }),
    from('context.vendor_ids.adjust_adid', 'adid'),
    from('context.vendor_ids.adjust_web_uuid', 'web_uuid'),
    from('context.ip', 'ip_address', [], { when: source.IS_IPV4 }),
    from('context.user_agent', 'user_agent'),
    from('properties', 'callback_params', [use('omit', 'products', 'email', 'phone', 'first_name', 'last_name'), 'string_values']),
    from('event_id', 'callback_params.event_id'),
    from('user_id', 'callback_params.user_id'),
  ],
  lines: { purchase, booking, subscription },
});

const ANSWERS: AnswerRule[] = [
  // The event was recorded before: a retry, or a unique event that happened again.
  {
    status: [400],
    when: { field: 'body.error', op: 'contains', value: 'earlier unique event' },
    verdict: 'delivered',
    reason: 'body.error',
  },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'adjust',
  name: 'Adjust',
  description: 'In-app events from your server into Adjust, for mobile attribution.',
  category: 'attribution',
  group: 'attribution',
  status: 'ga',
  website: 'https://dev.adjust.com/en/api/s2s-api/events/',
  api_version: { version: 's2s', checked: '2026-11-16' },
  setup_steps: [
    'In Adjust open AppView, All apps, your app, and copy the app token.',
    'Create an event for each event you send and copy its token into the table below.',
    'Recommended: under Protection, S2S Security, create a token.',
  ],
  see_it: 'Open AppView, All apps, your app, Testing console, and look the device up; real events show in Datascape.',
  test_mode: { field: 'environment', value: 'sandbox', effect: 'Events show in the testing console only.' },
  notes: [
    'An event needs an advertising id (IDFA, GAID), a vendor id, an Android ID, the device ID of Adjust (context.vendor_ids.adjust_adid) or the id of the web SDK (context.vendor_ids.adjust_web_uuid).',
    'Adjust accepts IPv4 addresses only; IPv6 addresses are not sent. It does not deduplicate events, except those set to unique.',
    'The event’s properties are sent as callback parameters without products and personal data.',
    'Adjust rejects events of a device it has never seen: sessions must come from the Adjust SDK.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('app_token', 'App token', '4w565xzmb54d', 'AppView, All apps, your app.', TOKEN),
    eventTable(
      'event_tokens',
      'Event tokens',
      text('event_token', 'Event token', 'f0ob4r', 'AppView, your app, Events.', TOKEN),
      'Events and the token of each. A row enables its event.',
    ),
    select('environment', 'Environment', ['production', 'sandbox'], 'sandbox: the events appear in the testing console only.'),
    select('s2s_security', 'S2S Security', ['off', 'on'], 'AppView, your app, Protection, S2S Security: whether requests need a token.'),
    optionalSecret('s2s_token', 'S2S security token', 'xjdbvcx3n2lm1example', 'AppView, your app, Protection, S2S Security.', {
      required_when: { field: 's2s_security', equals: 'on' },
    }),
  ],
  request: {
    method: 'POST',
    url: 'https://s2s.adjust.com/event',
    auth: {
      kind: 'choice',
      field: 's2s_security',
      options: { off: { kind: 'none' }, on: { kind: 'bearer', token: '{{parameters.s2s_token}}' } },
    },
    body: { kind: 'form' },
    answers: ANSWERS,
  },
  event_name: { target: 'event_token' },
  event_table: { field: 'event_tokens', event: 'event', vendor_event_name: 'event_token' },
  together: [['revenue', 'currency']],
  require_one_of: [['idfa', 'gps_adid', 'idfv', 'android_id', 'adid', 'web_uuid']],
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
