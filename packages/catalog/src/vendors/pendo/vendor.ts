/** https://support.pendo.io/hc/en-us/articles/360032294291 (track events); https://engageapi.pendo.io/, metadata, through the guide of Zeotap. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { contextLines } from '../shared/context.ts';
import { optionalSecret, secret, select } from '../shared/fields.ts';
import { event, from, set } from '../shared/mapping.ts';

const metadata = (kind: 'visitor' | 'account'): RequestDefinition => ({
  name: kind,
  when: {
    all: [
      { field: 'parameters.integration_key', op: 'exists' },
      { field: `payload.${kind}`, op: 'exists' },
    ],
  },
  method: 'POST',
  url: `https://{{parameters.region}}/api/v1/metadata/${kind}/custom/value`,
  headers: { 'x-pendo-integration-key': '{{parameters.integration_key}}' },
  items: kind,
  body: { kind: 'json_list' },
  answers: [RETRY_TIMEOUT],
});

export default defineVendor({
  key: 'pendo',
  name: 'Pendo',
  description: 'Track events, visitor metadata and account metadata into Pendo.',
  category: 'analytics',
  group: 'analytics',
  status: 'beta',
  website: 'https://engageapi.pendo.io/',
  api_version: { version: 'data/track, metadata v1', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In Pendo open Settings, Subscription settings, your app, App details, and copy the Track Event shared secret.',
    'For metadata: Settings, Integrations, Integration keys, add one with write access, and create the custom fields first.',
    'Accept new track events in Pendo (Product, Track Events) before they appear in reports.',
  ],
  see_it: 'Open Product, Track Events, Raw events, or the visitor’s details.',
  notes: [
    'Events of visitors without a user id are dropped.',
    'Identify and group calls need the integration key; without it they are dropped.',
    'Names of properties have letters, digits and underscores, at most 32 characters; other characters become underscores.',
    'Pendo shows no properties that are longer than 512 bytes as JSON in all: map the few that you need.',
    'Open: the calls for metadata and the hosts of other regions were not seen in Pendo’s own reference.',
  ],
  config_fields: [
    secret(
      'track_secret',
      'Track Event shared secret',
      '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11',
      'Settings, Subscription settings, your app, App details. Not the integration key.',
      { pattern: '^\\S+$', pattern_hint: 'without spaces' },
    ),
    optionalSecret(
      'integration_key',
      'Integration key',
      '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c12.us',
      'Settings, Integrations, Integration keys, with write access. Only for metadata.',
      { pattern: '^\\S+$', pattern_hint: 'without spaces' },
    ),
    select(
      'region',
      'Region',
      ['app.pendo.io', 'us1.app.pendo.io', 'app.eu.pendo.io', 'app.jpn.pendo.io', 'app.au.pendo.io'],
      'The host in the address bar of Pendo.',
    ),
  ],
  requests: [
    metadata('visitor'),
    metadata('account'),
    {
      name: 'track',
      when: { field: 'event.type', op: 'in', value: ['track', 'page'] },
      method: 'POST',
      url: 'https://{{parameters.region}}/data/track',
      auth: { kind: 'header', name: 'x-pendo-integration-key', value: '{{parameters.track_secret}}' },
      items: 'track',
      body: { kind: 'json' },
      answers: [RETRY_TIMEOUT],
    },
  ],
  send: 'all',
  event_name: { target: 'track.event' },
  limits: [{ path: 'track.properties', max_key_length: 32, key_style: 'identifier' }],
  require_one_of: [['track.visitorId']],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: [
      set('track.type', 'track'),
      from('user_id', 'track.visitorId'),
      from(['context.group_id', 'traits.company.id'], 'track.accountId', ['to_string']),
      from('timestamp', 'track.timestamp', ['to_unix_millis']),
      from('properties', 'track.properties'),
      // Pendo requires the context, even if it is empty.
      set('track.context', {}),
      ...contextLines('track.context', { ip: 'ip', user_agent: 'userAgent', url: 'url', title: 'title' }),
    ],
    lines: {},
    others: {
      '@page': event('Page Viewed', [from('name', 'track.properties.page_name')]),
      '@screen': event('Screen Viewed', [from('name', 'track.properties.screen_name')]),
      '@identify': event(undefined, [from('user_id', 'visitor.visitorId'), from('traits', 'visitor.values')]),
      '@group': event(undefined, [from('group_id', 'account.accountId'), from('traits', 'account.values')]),
    },
  }),
});
