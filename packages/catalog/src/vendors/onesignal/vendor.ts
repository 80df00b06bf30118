/** https://documentation.onesignal.com/reference/create-custom-events, /create-user, /update-user */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, text } from '../shared/fields.ts';
import { event, from, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const auth = { kind: 'header', name: 'Authorization', value: 'Key {{parameters.api_key}}' } as const;
const APP = 'https://api.onesignal.com/apps/{{parameters.app_id}}';
/** Traits that name a person are not tags. */
const NO_TAGS = ['email', 'phone', 'first_name', 'firstName', 'last_name', 'lastName', 'name', 'address', 'birthday'];

export default defineVendor({
  key: 'onesignal',
  name: 'OneSignal',
  description: 'Custom events and user tags into OneSignal, for journeys and messages.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://documentation.onesignal.com/reference/create-custom-events',
  api_version: { version: 'User model', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: ['In OneSignal open Settings, Keys and IDs, and copy the app ID and an app API key.'],
  see_it: 'Open Audience, Users, the user: the event shows in the activity. Data, Custom events lists it too.',
  notes: [
    'OneSignal rejects events of users whom it does not know by their external id: send an identify first.',
    'An identify creates the user and sets tags; the plan limits how many (2 to 100). OneSignal accepts one such request a second for a user, so the tags may arrive a moment later.',
    'Only an event id that is a UUID prevents duplicates (idempotency_key, 30 days).',
    'An event may have 2,024 bytes.',
  ],
  config_fields: [
    text('app_id', 'App ID', '567491ee-9105-4a87-9cbc-ed78a571645b', 'Settings, Keys and IDs.', {
      pattern: source.UUID,
      pattern_hint: 'a UUID',
    }),
    secret(
      'api_key',
      'App API key',
      'os_v2_app_0123456789abcdefghijklmnop',
      'Settings, Keys and IDs, App API keys. Not an organisation key.',
      { pattern: '^(?!os_v2_org)\\S+$', pattern_hint: 'an app API key (os_v2_app_…)' },
    ),
  ],
  requests: [
    {
      name: 'events',
      when: { field: 'event.type', op: 'in', value: ['track', 'page'] },
      method: 'POST',
      url: `${APP}/custom_events`,
      auth,
      items: 'event',
      item_keys: ['external_id'],
      body: { kind: 'json_list', under: 'events' },
      batch: { max_items: 400, max_bytes: 900_000, interval_ms: 1_000 },
      answers: [
        {
          status: ['2xx'],
          verdict: 'partial',
          partial: { errors: 'body.errors', key: 'event_user_id', reason: 'error.title', failed: 'refused', others: 'delivered' },
        },
        { status: [400, 413], verdict: 'refused', isolate: true },
        RETRY_TIMEOUT,
      ],
    },
    // Creating a user who exists changes nothing, so the tags are set by an update.
    { name: 'create', method: 'POST', url: `${APP}/users`, auth, items: 'user', body: { kind: 'json' }, answers: [RETRY_TIMEOUT] },
    {
      name: 'update',
      method: 'PATCH',
      url: `${APP}/users/by/external_id/{{event.user_id}}`,
      auth,
      items: 'update',
      body: { kind: 'json' },
      // The user may be created a moment later.
      answers: [{ status: [404], verdict: 'unavailable' }, RETRY_TIMEOUT],
    },
  ],
  send: 'all',
  event_name: { target: 'event.name', max_length: 128 },
  require_one_of: [['event.external_id']],
  default_action: 'drop',
  rate: { rps: 100 },
  variants: blueprints({
    names: 'keep',
    global: [
      from('user_id', 'event.external_id'),
      from('timestamp', 'event.timestamp'),
      from('event_id', 'event.idempotency_key', [], { when: source.EVENT_ID_IS_UUID }),
      from('properties', 'event.properties'),
    ],
    lines: {},
    others: {
      '@page': event('Page Viewed', [from('name', 'event.properties.page_name'), from(source.OWN_PAGE_URL, 'event.properties.page_url')]),
      '@screen': event('Screen Viewed', [from('name', 'event.properties.screen_name')]),
      '@identify': event(undefined, [
        from('user_id', 'user.identity.external_id'),
        from('traits', 'update.properties.tags', [use('omit', ...NO_TAGS), 'string_values']),
        from('context.locale', 'update.properties.language', ['lowercase', use('replace', '[-_].*$')]),
        from('context.timezone', 'update.properties.timezone_id'),
        from(source.COUNTRY, 'update.properties.country', ['country_code', 'uppercase']),
      ]),
      '@group': event(undefined, [from('user_id', 'user.identity.external_id'), from('group_id', 'update.properties.tags.group_id')]),
    },
  }),
});
