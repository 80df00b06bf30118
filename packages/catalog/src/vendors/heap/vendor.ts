/** https://developers.heap.io/reference/bulk-track, /track-1, /add-user-properties and /add-account-properties. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { oneBadFailsAll, RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { contextLines } from '../shared/context.ts';
import { select, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const API = 'https://{{parameters.region}}/api';
const post = (name: string, path: string): RequestDefinition => ({
  name,
  method: 'POST',
  url: `${API}/${path}`,
  items: name,
  fill: { app_id: '{{parameters.app_id}}' },
  body: { kind: 'json' },
  answers: [RETRY_TIMEOUT],
});

export default defineVendor({
  key: 'heap',
  name: 'Heap',
  description: 'Server-side events, user properties and account properties into Heap.',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://developers.heap.io/reference/server-side-apis-overview',
  api_version: { version: '/api/track', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: ['In Heap open Account, Manage, Projects, and copy the environment ID (app id).', 'Choose the data centre of the account.'],
  see_it: 'Open Data, Live data feed, or the user’s session.',
  notes: [
    'Events of anonymous visitors are dropped: Heap knows them only by a number of its own.',
    'Nested properties are left out: Heap accepts texts and numbers only.',
    'The event id is the idempotency key.',
    'Heap accepts 15,000 events a minute, and 1,000 of one user.',
  ],
  config_fields: [
    text('app_id', 'Environment ID', '1234567890', 'Account, Manage, Projects, of the environment.', {
      pattern: '^\\d{5,20}$',
      pattern_hint: 'digits only',
    }),
    select(
      'region',
      'Data centre',
      ['heapanalytics.com', 'c.eu.heap-api.com'],
      'heapanalytics.com for the US, c.eu.heap-api.com for the EU.',
    ),
  ],
  requests: [
    {
      name: 'track',
      when: { field: 'event.type', op: 'in', value: ['track', 'page'] },
      method: 'POST',
      url: `${API}/track`,
      items: 'track',
      body: { kind: 'json_list', under: 'events', common: { app_id: '{{parameters.app_id}}' } },
      batch: { max_items: 1_000, max_bytes: 900_000, interval_ms: 1_000 },
      answers: oneBadFailsAll(),
    },
    post('user', 'add_user_properties'),
    post('account', 'add_account_properties'),
  ],
  send: 'all',
  event_name: { target: 'track.event', max_length: 1_024 },
  limits: ['track.properties', 'user.properties', 'account.properties'].map((path) => ({
    path,
    max_key_length: 1_023,
    max_string_length: 1_023,
    scalars_only: true,
  })),
  require_one_of: [['track.identity']],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: [
      from('user_id', 'track.identity'),
      from('timestamp', 'track.timestamp'),
      from('event_id', 'track.idempotency_key'),
      from('properties', 'track.properties'),
      ...contextLines('track.properties', {
        url: 'page_url',
        referrer: 'page_referrer',
        utm_source: 'utm_source',
        utm_medium: 'utm_medium',
        utm_campaign: 'utm_campaign',
        utm_term: 'utm_term',
        utm_content: 'utm_content',
        app_version: 'app_version',
      }),
    ],
    lines: {},
    others: {
      '@page': event('Page viewed', [from('name', 'track.properties.page_name'), from(source.PAGE_TITLE, 'track.properties.page_title')]),
      '@screen': event('Screen viewed', [from('name', 'track.properties.screen_name')]),
      '@identify': event(undefined, [from('user_id', 'user.identity'), from('traits', 'user.properties', ['flatten'])]),
      '@group': event(undefined, [
        from('group_id', 'account.account_id'),
        from('traits', 'account.properties', ['flatten']),
        from('user_id', 'user.identity'),
        from('group_id', 'user.properties.account_id'),
      ]),
    },
  }),
});
