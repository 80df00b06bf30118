/** https://developer.fullstory.com/server/events/create-event/, /server/users/create-user/ and /server/v2/custom-properties */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, select } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { fullName, PLAIN_EMAIL } from '../shared/user-data.ts';

const post = (name: string, path: string): RequestDefinition => ({
  name,
  method: 'POST',
  url: `https://{{parameters.region}}/v2/${path}`,
  headers: { 'Idempotency-Key': '{{item.id}}' },
  auth: { kind: 'header', name: 'Authorization', value: 'Basic {{parameters.api_key}}' },
  items: name,
  body: { kind: 'json' },
  answers: [RETRY_TIMEOUT],
});

export default defineVendor({
  key: 'fullstory',
  name: 'FullStory',
  description: 'Server events and users into FullStory.',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://developer.fullstory.com/server/events/create-event/',
  api_version: { version: 'v2', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In FullStory open Settings, Integrations and API keys, Create key, with the permission Standard or Architect.',
    'Choose the data centre of the account.',
  ],
  see_it: 'Search for users with the event’s name: the event shows in the user’s timeline within minutes.',
  notes: [
    'Events of visitors without a user id are dropped: FullStory knows visitors by the uid of FS.identify.',
    'An event joins the session of the last 30 minutes, if there is one.',
    'The event id makes a repeated request harmless (Idempotency-Key).',
    'A group is a property of the user.',
    'Names of properties become letters, digits and underscores. Products are sent as the list of their ids (product_ids).',
  ],
  config_fields: [
    secret('api_key', 'API key', 'na1.MDEyMzQ1Njc4OWFiY2RlZg==', 'Settings, Integrations and API keys.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    select(
      'region',
      'Data centre',
      ['api.fullstory.com', 'api.eu1.fullstory.com'],
      'The key starts with na1 or eu1: api.fullstory.com or api.eu1.fullstory.com.',
    ),
  ],
  requests: [{ ...post('event', 'events'), when: { field: 'event.type', op: 'in', value: ['track', 'page'] } }, post('user', 'users')],
  send: 'all',
  event_name: { target: 'event.name', max_length: 250 },
  // Names of properties: letters, digits and underscores, at most 512, the first one a letter.
  limits: [
    { path: 'event.properties', key_style: 'identifier', max_key_length: 512 },
    { path: 'user.properties', key_style: 'identifier', max_key_length: 512, max_keys: 500 },
  ],
  require_one_of: [['event.user.uid']],
  default_action: 'drop',
  rate: { rps: 30 },
  variants: blueprints({
    names: 'keep',
    global: [
      from('user_id', 'event.user.uid', [use('truncate', 256)]),
      set('event.session.use_most_recent', true),
      from('timestamp', 'event.timestamp'),
      // FullStory has no lists of objects.
      from('properties', 'event.properties', [use('omit', 'products')]),
      from(source.productIds, 'event.properties.product_ids', ['to_string']),
      from(source.PAGE_URL, 'event.properties.page_url'),
    ],
    lines: {},
    others: {
      '@page': event('Page Viewed', [from('name', 'event.properties.page_name'), from(source.OWN_PAGE_URL, 'event.properties.page_url')]),
      '@screen': event('Screen Viewed', [from('name', 'event.properties.screen_name')]),
      '@identify': event(undefined, [
        from('user_id', 'user.uid', [use('truncate', 256)]),
        from(source.EMAIL, 'user.email', [PLAIN_EMAIL, use('truncate', 128)]),
        ...fullName('user.display_name', [use('truncate', 256)]),
        from('traits', 'user.properties', [use('omit', 'email', 'name', 'first_name', 'last_name')]),
      ]),
      '@group': event(undefined, [
        from('user_id', 'user.uid', [use('truncate', 256)]),
        from('group_id', 'user.properties.group_id'),
        from('traits.name', 'user.properties.group_name'),
      ]),
    },
  }),
});
