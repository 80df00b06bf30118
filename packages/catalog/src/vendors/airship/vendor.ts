/**
 * https://www.airship.com/docs/developer/rest-api/ua/schemas/others (Custom Event object); urbanairship/python-library, custom_events.py.
 * Texts of an event have at most 255 characters: urbanairship/android-library, CustomEvent.java.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { secret, select, text } from '../shared/fields.ts';
import { DISABLED, event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { STANDARD_EVENTS, type StandardEvent } from '../shared/standard-events.ts';

/** Airship accepts lower-case names only. */
const NAMES = Object.fromEntries(
  Object.keys(STANDARD_EVENTS).map((name) => [name, name.toLowerCase().replace(/[^a-z0-9]+/g, '_')]),
) as Record<StandardEvent, string>;
const CUT = use('truncate', 255);
const VALUE = [...orderTotal('body.value'), from(source.ORDER_ID, 'body.transaction', ['to_string', CUT])];

export default defineVendor({
  key: 'airship',
  name: 'Airship',
  description: 'Custom events of named users into Airship.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://docs.airship.com/api/ua/#operation-api-custom-events-post',
  api_version: { version: '3', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Airship open Settings, Project configuration, Tokens, and create a token with the role Event.',
    'Copy the app key from Settings, Project details.',
  ],
  see_it: 'Open Events, Custom events, or the event stream of the channel under Audience, Contact management.',
  notes: [
    'Events go to the named user, which is the user id; visitors without one are dropped.',
    'Names are in lower case, with underscores.',
    'Identify and group calls are not sent: attributes must be defined in Airship first.',
    'Texts in properties are cut to 255 characters. Airship rejects events that are older than 90 days.',
  ],
  config_fields: [
    text('app_key', 'App key', 'ISex_TTJRuarzs9-o_Gkhg', 'Settings, Project details.', {
      pattern: '^[A-Za-z0-9_-]{22}$',
      pattern_hint: '22 characters',
    }),
    secret('token', 'Token', '0123456789abcdefghijklmnopqrstuvwxyz', 'Settings, Project configuration, Tokens.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    select('region', 'Region', ['go.urbanairship.com', 'go.airship.eu'], 'go.airship.eu for projects in the EU.'),
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.region}}/api/custom-events',
    headers: { 'X-UA-Appkey': '{{parameters.app_key}}', Accept: 'application/vnd.urbanairship+json; version=3' },
    auth: { kind: 'bearer', token: '{{parameters.token}}' },
    body: { kind: 'json_list' },
    batch: { max_items: 100, max_bytes: 500_000, interval_ms: 1_000 },
    answers: [{ status: [400, 413], verdict: 'refused', reason: 'body.error', isolate: true }, RETRY_TIMEOUT],
  },
  event_name: { target: 'body.name', max_length: 255 },
  limits: [{ path: 'body.properties', max_string_length: 255 }],
  require_one_of: [['user.named_user_id']],
  max_event_age_hours: 2_160,
  default_action: 'drop',
  rate: { rps: 20 },
  variants: blueprints({
    names: NAMES,
    global: [
      from('timestamp', 'occurred', [use('format_time', 'yyyy-MM-ddTHH:mm:ssZ')]),
      from('user_id', 'user.named_user_id'),
      from('properties', 'body.properties'),
      // The path and query of the page.
      from(source.PAGE_URL, 'body.interaction_id', [use('replace', '^[a-z]+://[^/?#]+'), CUT]),
      set('body.interaction_type', 'url', { when: { field: 'context.page.url', op: 'exists' } }),
    ],
    lines: { purchase: VALUE, refund: VALUE, booking: VALUE, subscription: VALUE },
    others: {
      '@page': event('page_viewed', [from('name', 'body.properties.page_name')]),
      '@screen': event('screen_viewed', [from('name', 'body.properties.screen_name')]),
      '@identify': DISABLED,
      '@group': DISABLED,
    },
    defaults: { action: 'map', mappings: [from('event', 'body.name', ['snake_case', CUT])] },
  }),
});
