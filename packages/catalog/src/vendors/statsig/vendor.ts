/** https://docs.statsig.com/api-reference/events/log-custom-events and, for the user, /sdks/user. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { contextLines } from '../shared/context.ts';
import { secret } from '../shared/fields.ts';
import { DISABLED, event, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

export default defineVendor({
  key: 'statsig',
  name: 'Statsig',
  description: 'Events into Statsig, for the metrics of experiments and gates.',
  category: 'other',
  group: 'personalisation_and_testing',
  status: 'ga',
  website: 'https://docs.statsig.com/api-reference/events/log-custom-events',
  api_version: { version: 'v1/log_event', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: ['In Statsig open Project settings, Keys and environments, and copy the server secret key.'],
  see_it: 'Open Metrics, Events catalog, or Logstream: the event shows within seconds.',
  notes: [
    'The user id is userID, the anonymous id the custom id stableID. Add a custom id of that name in Statsig if you randomise by it.',
    'Metadata are texts; nested properties are sent as JSON.',
    'Identify and group calls are not sent: the user travels with every event.',
    'There is no deduplication: a retry after a timeout can count an event twice.',
    'Limits of size and rate are not published.',
  ],
  config_fields: [
    secret('api_key', 'Server secret key', 'secret-0123456789abcdefghijklmnopqrstuvwxyz', 'Project settings, Keys and environments.', {
      pattern: '^(?!console-)\\S+$',
      pattern_hint: 'a server secret (secret-…) or client key (client-…), not a console key',
    }),
  ],
  request: {
    method: 'POST',
    url: 'https://events.statsigapi.net/v1/log_event',
    headers: { 'statsig-api-key': '{{parameters.api_key}}' },
    body: { kind: 'json_list', under: 'events' },
    batch: { max_items: 500, max_bytes: 900_000, interval_ms: 1_000 },
    answers: [{ status: [400, 413], verdict: 'refused', isolate: true }, RETRY_TIMEOUT],
  },
  event_name: { target: 'eventName', reserved_prefixes: ['statsig::'] },
  require_one_of: [['user.userID', 'user.customIDs.stableID']],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: [
      from('user_id', 'user.userID'),
      from('anonymous_id', 'user.customIDs.stableID'),
      from(source.EMAIL, 'user.email', [PLAIN_EMAIL]),
      ...contextLines('user', { ip: 'ip', user_agent: 'userAgent', country: 'country', locale: 'locale', app_version: 'appVersion' }),
      from('timestamp', 'time', ['to_unix_millis']),
      from('properties', 'metadata', ['string_values']),
      from('properties.value', 'value', ['to_number']),
    ],
    lines: { purchase: orderTotal('value'), refund: orderTotal('value'), booking: orderTotal('value'), subscription: orderTotal('value') },
    others: {
      '@page': event('page_view', [from(['name', 'context.page.path'], 'value'), from(source.OWN_PAGE_URL, 'metadata.page_url')]),
      '@screen': event('screen_view', [from('name', 'value')]),
      '@identify': DISABLED,
      '@group': DISABLED,
    },
  }),
});
