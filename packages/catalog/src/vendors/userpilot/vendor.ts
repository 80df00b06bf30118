/** https://docs.userpilot.com/api-references/real-time/track-event and identify-user */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, select } from '../shared/fields.ts';
import { DISABLED, event, from } from '../shared/mapping.ts';

const post = (name: string, path: string): RequestDefinition => ({
  name,
  method: 'POST',
  url: `https://{{parameters.region}}/v1/${path}`,
  headers: { 'X-API-Version': '2020-09-22' },
  auth: { kind: 'header', name: 'Authorization', value: 'Token {{parameters.api_key}}' },
  items: name,
  body: { kind: 'json' },
  answers: [RETRY_TIMEOUT],
});

export default defineVendor({
  key: 'userpilot',
  name: 'Userpilot',
  description: 'Users, companies and events into Userpilot.',
  category: 'other',
  group: 'personalisation_and_testing',
  status: 'ga',
  website: 'https://docs.userpilot.com/api-references/real-time/track-event',
  api_version: { version: '2020-09-22', checked: '2026-11-16' },
  default_consent_category: 'functional',
  setup_steps: ['In Userpilot open Environment, and copy the API key and the API endpoint of the environment.'],
  see_it: 'Open People, Users, the user: the event shows in the activity. Data, Events lists it too.',
  notes: [
    'Userpilot knows users, not anonymous visitors: events without a user id are dropped, and the user must have been identified.',
    'Userpilot counts an event when it arrives: events that are older than a day are dropped.',
    'There is no deduplication: a retry after a timeout can count an event twice. Page views are not sent.',
    'Userpilot accepts 600 requests a minute.',
    'Numbers in metadata are sent as numbers. One page of the documentation accepts them, another speaks of texts only.',
  ],
  config_fields: [
    secret('api_key', 'API key', 'prd_0123456789abcdef0123456789abcdef', 'Environment, API key.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    select('region', 'Endpoint', ['analytex.userpilot.io', 'analytex-eu.userpilot.io'], 'Environment, API endpoint.'),
  ],
  requests: [
    { ...post('track', 'track'), when: { field: 'event.type', op: 'eq', value: 'track' } },
    post('user', 'identify'),
    post('company', 'companies/identify'),
  ],
  send: 'all',
  event_name: { target: 'track.event_name' },
  limits: [{ path: 'track.metadata', scalars_only: true }],
  require_one_of: [['track.user_id']],
  max_event_age_hours: 24,
  default_action: 'drop',
  rate: { rps: 10 },
  variants: blueprints({
    names: 'keep',
    global: [from('user_id', 'track.user_id'), from('properties', 'track.metadata')],
    lines: {},
    others: {
      '@page': DISABLED,
      '@identify': event(undefined, [from('user_id', 'user.user_id'), from('traits', 'user.metadata', ['flatten'])]),
      '@group': event(undefined, [
        from('group_id', 'company.company_id'),
        from('traits', 'company.metadata', ['flatten']),
        from('user_id', 'user.user_id'),
        from('group_id', 'user.company.company_id'),
      ]),
    },
  }),
});
