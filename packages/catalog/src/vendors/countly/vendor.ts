/** https://api.count.ly/api/core/bulk/i-bulk and /ingestion; Countly/countly-sdk-nodejs, lib/countly-bulk-user.js, for user details. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { secret, text } from '../shared/fields.ts';
import { event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { EVENT_KINDS } from '../shared/standard-events.ts';
import { fullName, PLAIN_EMAIL } from '../shared/user-data.ts';

const EVENT = 'events[0]';
const SUM = orderTotal(`${EVENT}.sum`);
const WHO = [
  from(['user_id', 'anonymous_id'], 'device_id', ['to_string'], { required: true }),
  from('timestamp', 'timestamp', ['to_unix_millis']),
  from('context.ip', 'ip_address'),
];
const HAPPENED = [
  set(`${EVENT}.count`, 1),
  from('properties', `${EVENT}.segmentation`),
  from('timestamp', `${EVENT}.timestamp`, ['to_unix_millis']),
];

export default defineVendor({
  key: 'countly',
  name: 'Countly',
  description: 'Events and user details into a Countly server of your own or of Countly.',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://api.count.ly/api/core/bulk/i-bulk',
  default_consent_category: 'analytics',
  setup_steps: ['In Countly open Management, Applications, choose the app and copy its app key.'],
  see_it: 'Open Analytics, Events, or the profile of the user.',
  notes: [
    'Countly answers a batch with one result: an entry that it skips is not reported.',
    'A user who signs in has the user id as device id; visits before that stay with the anonymous id.',
  ],
  config_fields: [
    text('server_url', 'Server', 'https://acme.count.ly', 'Address of your Countly server, without a path.', { format: 'url' }),
    secret('app_key', 'App key', '9a4d196c01d3ca82876c0398ab774e5e', 'Management, Applications.'),
  ],
  request: {
    method: 'POST',
    url: '{{parameters.server_url}}/i/bulk',
    body: { kind: 'form_list', field: 'requests', common: { app_key: '{{parameters.app_key}}' } },
    batch: { max_items: 100, max_bytes: 1_000_000, interval_ms: 2_000 },
    answers: [{ status: [400], verdict: 'refused', reason: 'body.result', isolate: true }, RETRY_TIMEOUT],
  },
  event_name: { target: 'events[0].key', only_with: 'events' },
  limits: [{ path: 'events[0].segmentation', scalars_only: true, max_keys: 100, max_key_length: 80, max_string_length: 256 }],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: WHO,
    lines: Object.fromEntries(EVENT_KINDS.map((kind) => [kind, HAPPENED])),
    extra: {
      'Order Completed': SUM,
      'Booking Completed': SUM,
      'Subscription Started': SUM,
    },
    others: {
      '@page': event('[CLY]_view', [
        ...HAPPENED,
        from(['name', ...source.PAGE_TITLE, 'context.page.path'], `${EVENT}.segmentation.name`),
        set(`${EVENT}.segmentation.visit`, 1),
      ]),
      '@group': event('group', [
        ...HAPPENED,
        from('group_id', `${EVENT}.segmentation.group_id`),
        from('traits.name', `${EVENT}.segmentation.group_name`),
      ]),
      '@identify': event(undefined, [
        ...fullName('user_details.name'),
        from('traits.username', 'user_details.username'),
        from('traits.email', 'user_details.email', [PLAIN_EMAIL]),
        from('traits.phone', 'user_details.phone'),
        from(['traits.company.name', 'traits.company'], 'user_details.organization', ['to_string']),
        from('traits', 'user_details.custom'),
      ]),
    },
    defaults: { action: 'map', mappings: HAPPENED },
  }),
});
