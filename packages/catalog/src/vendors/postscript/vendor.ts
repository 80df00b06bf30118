/** https://developers.postscript.io/reference/create-custom-event */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret } from '../shared/fields.ts';
import { DISABLED, from, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

export default defineVendor({
  key: 'postscript',
  name: 'Postscript',
  description: 'Custom events of your SMS subscribers into Postscript.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://developers.postscript.io/reference/create-custom-event',
  api_version: { version: 'v2', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: ['In Postscript open the account menu, API, and create a private key.'],
  see_it: 'Open Flows and create one: the event shows among the triggers, with the name of your shop in front.',
  notes: [
    'Names of events have letters, digits and underscores only; other characters become underscores.',
    'Subscribers are found by telephone number, otherwise by address. Postscript does not add subscribers through events.',
    'Identify calls are not sent: adding a subscriber needs a legal opt-in. Page views and groups are not sent.',
    'The event id is sent as external_id; Postscript does not promise to remove duplicates.',
  ],
  config_fields: [
    secret('api_key', 'Private API key', 'sk_0123456789abcdef0123456789abcdef', 'Account menu, API.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
  ],
  request: {
    method: 'POST',
    url: 'https://api.postscript.io/api/v2/events',
    auth: { kind: 'bearer', token: '{{parameters.api_key}}' },
    body: { kind: 'json' },
    answers: [{ status: [400, 401, 403], verdict: 'refused', reason: 'body.error_message' }, RETRY_TIMEOUT],
  },
  event_name: { target: 'type', style: 'identifier' },
  limits: [{ path: 'properties', scalars_only: true }],
  require_one_of: [['phone', 'email']],
  default_action: 'drop',
  rate: { rps: 15, burst: 15 },
  variants: blueprints({
    names: 'keep',
    global: [
      from(source.PHONE, 'phone', [PLAIN_PHONE]),
      from(source.EMAIL, 'email', [PLAIN_EMAIL]),
      from('timestamp', 'occurred_at', [use('format_time', 'yyyy-MM-dd HH:mm:ss.SSS000')]),
      from('event_id', 'external_id'),
      from('properties', 'properties'),
    ],
    lines: {},
    others: { '@page': DISABLED, '@identify': DISABLED, '@group': DISABLED },
  }),
});
