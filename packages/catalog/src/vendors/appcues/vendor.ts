/** https://api.appcues.com/v2/docs; fields of an event: https://docs.appcues.com/en_US/dev-api-data/http-api-developer */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, select, text } from '../shared/fields.ts';
import { DISABLED, event, from } from '../shared/mapping.ts';

const call = (name: string, method: string, path: string): RequestDefinition => ({
  name,
  method,
  url: `https://{{parameters.region}}/v2/accounts/{{parameters.account_id}}/${path}`,
  auth: { kind: 'basic', username: '{{parameters.api_key}}', password: '{{parameters.api_secret}}' },
  items: name,
  body: { kind: 'json' },
  answers: [RETRY_TIMEOUT],
});

export default defineVendor({
  key: 'appcues',
  name: 'Appcues',
  description: 'Users, groups and events into Appcues.',
  category: 'other',
  group: 'personalisation_and_testing',
  status: 'beta',
  website: 'https://api.appcues.com/v2/docs',
  api_version: { version: 'v2', checked: '2026-11-16' },
  default_consent_category: 'functional',
  setup_steps: ['In Appcues open Settings, API keys, create a key, and copy key, secret and account ID.'],
  see_it: 'Open Settings, Events explorer, or the event history of the user.',
  notes: [
    'Appcues knows users, not anonymous visitors: events without a user id are dropped. Page views are not sent.',
    'There is no deduplication: a retry after a timeout can count an event twice.',
    'Names of events are cut to 127 characters.',
    'A group call updates the profile of the group. It does not put the user into the group.',
    'Open: the paths were seen in a copy of the reference only. The fields of an event are those of the documented call of version 1.',
  ],
  config_fields: [
    text('account_id', 'Account ID', '12345', 'Settings, Account.', { pattern: '^\\d+$', pattern_hint: 'digits only' }),
    text('api_key', 'API key', '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11', 'Settings, API keys.'),
    secret('api_secret', 'API secret', '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c12', 'Settings, API keys; it is shown once.'),
    select('region', 'Region', ['api.appcues.com', 'api.eu.appcues.com'], 'api.eu.appcues.com for accounts in the EU.'),
  ],
  requests: [
    { ...call('event', 'POST', 'users/{{event.user_id}}/events'), when: { field: 'event.type', op: 'eq', value: 'track' } },
    call('user', 'PATCH', 'users/{{event.user_id}}/profile'),
    call('group', 'PATCH', 'groups/{{event.group_id}}/profile'),
  ],
  send: 'all',
  event_name: { target: 'event.name', max_length: 127 },
  require_one_of: [['id']],
  default_action: 'drop',
  rate: { rps: 20 },
  variants: blueprints({
    names: 'keep',
    global: [from('user_id', 'id'), from('timestamp', 'event.timestamp'), from('properties', 'event.attributes')],
    lines: {},
    others: {
      '@page': DISABLED,
      '@identify': event(undefined, [from('traits', 'user', ['flatten'])]),
      '@group': event(undefined, [from('traits', 'group', ['flatten'])]),
    },
  }),
});
