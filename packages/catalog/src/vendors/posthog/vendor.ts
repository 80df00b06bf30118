/** https://posthog.com/docs/api/capture; answers: PostHog/posthog, rust/capture. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { contextLines } from '../shared/context.ts';
import { secret, select } from '../shared/fields.ts';
import { event, from, into, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { webNames } from '../shared/web-names.ts';

const property = into('properties');
/** PostHog removes duplicates by `uuid`, where it accepts only UUIDs. */
const GLOBAL = [
  from(['user_id', 'anonymous_id'], 'distinct_id'),
  from('timestamp', 'timestamp'),
  from('event_id', 'uuid', [], { when: source.EVENT_ID_IS_UUID }),
  property('context.group_id', '$groups.company'),
  // PostHog drops `$identify`, `$create_alias` and `$groupidentify` if they ask for no profile.
  set('properties.$process_person_profile', false, {
    when: {
      all: [
        { field: 'type', op: 'in', value: ['track', 'page'] },
        { field: 'user_id', op: 'not_exists' },
        { field: 'parameters.person_profiles', op: 'eq', value: 'identified_only' },
      ],
    },
  }),
  ...contextLines('properties', {
    ip: '$ip',
    url: '$current_url',
    host: '$host',
    path: '$pathname',
    referrer: '$referrer',
    utm_source: 'utm_source',
    utm_medium: 'utm_medium',
    utm_campaign: 'utm_campaign',
    utm_term: 'utm_term',
    utm_content: 'utm_content',
    os_version: '$os_version',
    manufacturer: '$device_manufacturer',
    model: '$device_model',
    app_name: '$app_name',
    app_version: '$app_version',
    screen_width: '$screen_width',
    screen_height: '$screen_height',
    user_agent: '$raw_user_agent',
  }),
  ...webNames('properties'),
  property('context.device.type', '$device_type', [], { value_map: { desktop: 'Desktop', mobile: 'Mobile', tablet: 'Tablet' } }),
  // Without an address PostHog would locate this server, and its own server libraries set the same.
  set('properties.$geoip_disable', true, { when: { field: 'context.ip', op: 'not_exists' } }),
  set('properties.$lib', 'firsthand'),
  from('properties', 'properties', [], { when: { field: 'type', op: 'in', value: ['track', 'page'] } }),
];

export default defineVendor({
  key: 'posthog',
  name: 'PostHog',
  description: 'Events, persons and groups into PostHog.',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://posthog.com/docs/api/capture',
  api_version: { version: '/batch', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In PostHog open Settings, Project, General, and copy the project API key (phc_…).',
    'Choose the region of the project. For your own installation set the field Endpoint to its URL.',
  ],
  see_it: 'Open Activity: the event shows within seconds.',
  notes: [
    'PostHog answers 200 also for events that it drops later, such as events without a name or over the billing limit.',
    'Only an event id that is a UUID is sent as uuid, by which PostHog removes duplicates.',
    'An identify merges the anonymous visitor into the user ($anon_distinct_id); an alias merges the previous id into the user id ($create_alias).',
  ],
  config_fields: [
    secret(
      'api_key',
      'Project API key',
      'phc_0123456789abcdefghijklmnopqrstuvwxyzABCDEF',
      'Settings, Project, General, Project API key. Not a personal API key (phx_…).',
      { pattern: '^(?!phx_)\\S+$', pattern_hint: 'the project API key (phc_…), not a personal API key' },
    ),
    select(
      'region',
      'Region',
      ['us.i.posthog.com', 'eu.i.posthog.com'],
      'The host of the address bar in PostHog: us.posthog.com or eu.posthog.com.',
    ),
    select(
      'person_profiles',
      'Person profiles',
      ['identified_only', 'always'],
      'identified_only: visitors without a user id get no profile, as in PostHog’s own script. Profiles cost more.',
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.region}}/batch/',
    body: { kind: 'json_list', under: 'batch', common: { api_key: '{{parameters.api_key}}', historical_migration: false } },
    batch: { max_items: 1_000, max_bytes: 10_000_000, interval_ms: 1_000 },
    answers: [
      // Over the billing limit of the project: the events are dropped, and a retry would be too.
      {
        status: [200],
        when: { field: 'body.quota_limited', op: 'contains', value: 'events' },
        verdict: 'refused',
        reason: 'body.quota_limited',
      },
      { status: [400, 413], verdict: 'refused', isolate: true },
      RETRY_TIMEOUT,
    ],
  },
  event_name: { target: 'event', max_length: 200 },
  require_one_of: [['distinct_id']],
  default_action: 'drop',
  rate: { rps: 100 },
  variants: blueprints({
    names: 'keep',
    global: GLOBAL,
    lines: {},
    others: {
      '@page': event('$pageview', [
        from(source.OWN_PAGE_URL, 'properties.$current_url'),
        from(source.PAGE_TITLE, 'properties.title'),
        from('name', 'properties.page_name'),
      ]),
      '@screen': event('$screen', [from('name', 'properties.$screen_name')]),
      '@identify': event('$identify', [
        from('anonymous_id', 'properties.$anon_distinct_id', [], { when: { field: 'user_id', op: 'exists' } }),
        from('traits', 'properties.$set'),
      ]),
      '@alias': event('$create_alias', [
        // PostHog merges the person of `alias` into that of `distinct_id`, and refuses if the former is identified.
        from('user_id', 'distinct_id', [], { required: true }),
        from(['context.previous_id', 'anonymous_id'], 'properties.alias', [], { required: true }),
      ]),
      '@group': event('$groupidentify', [
        set('properties.$group_type', 'company'),
        from('group_id', 'properties.$group_key'),
        from('traits', 'properties.$group_set'),
      ]),
    },
  }),
});
