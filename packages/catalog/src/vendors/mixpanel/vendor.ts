/** https://docs.mixpanel.com/reference/import-events and mixpanel/docs, openapi/ingestion.openapi.yaml. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { contextLines } from '../shared/context.ts';
import { select, text } from '../shared/fields.ts';
import { DISABLED, event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';
import { webNames } from '../shared/web-names.ts';

const PROPS = 'events[0].properties';
const ANONYMOUS = { field: 'user_id', op: 'not_exists' };
/** `$insert_id`: at most 36 letters, digits and dashes. Other ids are hashed, as Mixpanel advises. */
const IS_INSERT_ID = { field: 'event_id', op: 'matches', value: '^[A-Za-z0-9-]{1,36}$' };
const EVENT = [
  from('properties', PROPS),
  from('timestamp', `${PROPS}.time`, ['to_unix_millis']),
  from('event_id', `${PROPS}.$insert_id`, ['sha256', use('truncate', 36)]),
  from('event_id', `${PROPS}.$insert_id`, [], { when: IS_INSERT_ID }),
  from('anonymous_id', `${PROPS}.distinct_id`, [use('prefix', '$device:')], { when: ANONYMOUS }),
  from('user_id', `${PROPS}.distinct_id`),
  from('anonymous_id', `${PROPS}.$device_id`),
  from('user_id', `${PROPS}.$user_id`),
  from('context.group_id', `${PROPS}.company`),
  // Without an address Mixpanel would locate this server. 0: no location.
  from(['context.ip', 'properties.ip'], `${PROPS}.ip`, [], { default: 0 }),
  ...contextLines(PROPS, {
    url: '$current_url',
    referrer: '$referrer',
    utm_source: 'utm_source',
    utm_medium: 'utm_medium',
    utm_campaign: 'utm_campaign',
    utm_term: 'utm_term',
    utm_content: 'utm_content',
    os_version: '$os_version',
    manufacturer: '$manufacturer',
    model: '$model',
    app_version: '$app_version_string',
    screen_width: '$screen_width',
    screen_height: '$screen_height',
  }),
  ...webNames(PROPS),
];

/** Traits with a field of Mixpanel's own, which the interface and its partners read. */
const OWN_FIELDS = ['email', 'phone', 'first_name', 'firstName', 'last_name', 'lastName', 'name'];
const PROFILE_ID = [
  from('anonymous_id', 'profile.$distinct_id', [use('prefix', '$device:')], { when: ANONYMOUS }),
  from('user_id', 'profile.$distinct_id'),
  from('parameters.project_token', 'profile.$token'),
];
const IDENTIFY = event(undefined, [
  ...PROFILE_ID,
  // Mixpanel rejects an update that updates nothing.
  from('traits', 'profile.$set', [use('omit', ...OWN_FIELDS)], { required: true, when: { field: 'traits', op: 'eq', value: {} } }),
  from('traits', 'profile.$set', [use('omit', ...OWN_FIELDS)]),
  from('traits.email', 'profile.$set.$email', [PLAIN_EMAIL]),
  from('traits.phone', 'profile.$set.$phone', [PLAIN_PHONE]),
  from('traits.name', 'profile.$set.$name', ['trim']),
  from(['traits.first_name', 'traits.firstName'], 'profile.$set.$first_name', ['trim']),
  from(['traits.last_name', 'traits.lastName'], 'profile.$set.$last_name', ['trim']),
]);
/** A group profile is updated only if there is something to write: `$set` is required. */
const HAS_TRAITS = {
  when: {
    all: [
      { field: 'traits', op: 'exists' },
      { field: 'traits', op: 'ne', value: {} },
    ],
  },
};
const GROUP = event(undefined, [
  from('parameters.project_token', 'group.$token', [], HAS_TRAITS),
  set('group.$group_key', 'company', HAS_TRAITS),
  from('group_id', 'group.$group_id', [], HAS_TRAITS),
  from('traits', 'group.$set', [], HAS_TRAITS),
  ...PROFILE_ID,
  from('group_id', 'profile.$union.company', ['to_list']),
]);

const ANSWERS: AnswerRule[] = [
  // The named records are at fault, the others are stored. Profiles may report it with 200.
  {
    status: [200, 400],
    verdict: 'partial',
    partial: { errors: 'body.failed_records', index: 'index', reason: 'message', failed: 'refused', others: 'delivered' },
  },
  { status: [413], verdict: 'refused', reason: 'body.error', isolate: true },
  // Profiles: 200 with the text 0 where no update was valid.
  { status: [200], when: { field: 'body', op: 'eq', value: '0' }, verdict: 'refused', isolate: true },
  RETRY_TIMEOUT,
];
const BATCH = { max_items: 2_000, max_bytes: 1_900_000, interval_ms: 1_000 };
/** `ip=0`: the address of this server is not where the visitor is. */
const profiles = (name: 'profile' | 'group', path: string): RequestDefinition => ({
  name,
  method: 'POST',
  url: `https://{{parameters.region}}/${path}`,
  query: { ip: '0', strict: '1' },
  items: name,
  body: { kind: 'json_list' },
  batch: BATCH,
  answers: ANSWERS,
});

export default defineVendor({
  key: 'mixpanel',
  name: 'Mixpanel',
  description: 'Events, user profiles and group profiles into Mixpanel.',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://docs.mixpanel.com/reference/import-events',
  api_version: { version: '/import', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In Mixpanel open Settings, Project settings, Overview, and copy the project token.',
    'Choose the data residency that is shown on the same page.',
    'For groups: Settings, Project settings, Group keys, and add the key company.',
  ],
  see_it: 'Open Events, and search the user ID, or open the profile of the user: the event shows within a minute.',
  notes: [
    'Projects with the Simplified ID Merge: an event that has both ids joins the anonymous visitor and the user.',
    'An event id that is no valid $insert_id is replaced by the first 36 characters of its SHA-256.',
    'Identify and group calls update profiles; they are not counted as events.',
    'Alias calls are not sent: they have no function in the Simplified ID Merge.',
  ],
  config_fields: [
    text('project_token', 'Project token', '6972694d809c7390676a138834f8c890', 'Settings, Project settings, Overview, Access keys.', {
      pattern: '^[0-9a-f]{32}$',
      pattern_hint: '32 characters, digits and the letters a to f',
    }),
    select(
      'region',
      'Data residency',
      ['api.mixpanel.com', 'api-eu.mixpanel.com', 'api-in.mixpanel.com'],
      'Settings, Project settings, Overview: api for the US, api-eu for the EU, api-in for India.',
    ),
  ],
  requests: [
    {
      name: 'events',
      when: { field: 'event.type', op: 'in', value: ['track', 'page'] },
      method: 'POST',
      url: 'https://{{parameters.region}}/import',
      query: { strict: '1' },
      auth: { kind: 'basic', username: '{{parameters.project_token}}', password: '' },
      items: 'events',
      body: { kind: 'json_list' },
      batch: BATCH,
      answers: ANSWERS,
    },
    profiles('profile', 'engage'),
    profiles('group', 'groups'),
  ],
  send: 'all',
  event_name: { target: 'events[0].event', only_with: 'events[0]', max_length: 255 },
  // Mixpanel rejects an event with a list of 255 elements or more.
  limits: [{ path: PROPS, max_list_length: 254 }],
  require_one_of: [[`${PROPS}.distinct_id`, 'profile.$distinct_id']],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: EVENT,
    lines: {},
    others: {
      '@page': event('Page Viewed', [
        from('name', `${PROPS}.page_name`),
        from(source.OWN_PAGE_URL, `${PROPS}.$current_url`),
        from(source.PAGE_TITLE, `${PROPS}.current_page_title`),
      ]),
      '@screen': event('Screen Viewed', [from('name', `${PROPS}.screen_name`)]),
      '@identify': IDENTIFY,
      '@alias': DISABLED,
      '@group': GROUP,
    },
  }),
});
