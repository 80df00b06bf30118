/** https://developer.matomo.org/api-reference/tracking-api (matomo-org/developer-documentation, docs/5.x/tracking-api.md). */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { contextLines } from '../shared/context.ts';
import { optionalSecret, text } from '../shared/fields.ts';
import { DISABLED, event, from, set } from '../shared/mapping.ts';
import { CART, EVENT, ORDER, RESOLUTION, SEARCH, TITLE, VISITOR } from '../shared/matomo-lines.ts';
import { template } from '../shared/messages.ts';
import * as source from '../shared/sources.ts';
import { EVENT_KINDS } from '../shared/standard-events.ts';

/** Overriding the address of the visitor needs the token. */
const WITH_TOKEN = { field: 'parameters.token_auth', op: 'exists' };
const GLOBAL = [
  ...VISITOR,
  set('apiv', 1),
  ...contextLines('', { url: 'url', referrer: 'urlref', user_agent: 'ua', locale: 'lang' }),
  from('context.ip', 'cip', [], { when: WITH_TOKEN }),
  RESOLUTION,
];
/** `ca`: an installation without the Events plugin would count the event as a page view. */
const EVENTS = [...EVENT, set('ca', 1)];

export default defineVendor({
  key: 'matomo',
  name: 'Matomo',
  description: 'Page views, events, searches and orders into Matomo (cloud or your own).',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://developer.matomo.org/api-reference/tracking-api',
  api_version: { version: 'Tracking HTTP API, Matomo 5', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In Matomo open Administration, Websites, Manage, and note the ID of the website. Switch Ecommerce on there if you sell.',
    'Create a user with write permission for the website, and as this user open Security, Auth tokens, Create new token.',
    'Without the token every visitor seems to come from the address of this service.',
  ],
  see_it: 'Open Visitors, Visits log: the visit shows with its actions.',
  notes: [
    'Matomo accepts events that are older than 24 hours only with a token, and shows them after the reports were processed again.',
    'Matomo has no refunds, and no currency of an order: amounts are in the currency of the website.',
    'A cart event replaces the cart with its products; additions and removals are sent as events.',
    'Identify and group calls are not sent: the user id travels with every event.',
  ],
  config_fields: [
    text(
      'url',
      'Matomo URL',
      'https://example.matomo.cloud',
      'The address of your Matomo, without matomo.php and without a slash at the end.',
      { format: 'url', pattern: '^(?!.*\\.php$).*[^/]$', pattern_hint: 'without matomo.php and without a slash at the end' },
    ),
    text('site_id', 'Website ID', '1', 'Administration, Websites, Manage.', {
      pattern: '^\\d{1,10}$',
      pattern_hint: 'the number of the website',
    }),
    optionalSecret(
      'token_auth',
      'Auth token',
      '0123456789abcdef0123456789abcdef',
      'Security, Auth tokens, of a user with write permission. Needed for the addresses of visitors and for old events.',
    ),
  ],
  request: {
    method: 'POST',
    url: '{{parameters.url}}/matomo.php',
    fill: { idsite: '{{parameters.site_id}}', token_auth: '{{parameters.token_auth}}' },
    body: { kind: 'form' },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'e_a', only_with: 'e_c' },
  require_one_of: [['_id', 'uid']],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: GLOBAL,
    // An event of any other kind is an event of Matomo's, too.
    lines: {
      ...Object.fromEntries(EVENT_KINDS.map((kind) => [kind, EVENTS])),
      search: [...SEARCH, from(source.CATEGORY, 'search_cat', ['to_string'])],
      list: [TITLE, from(source.CATEGORY, '_pkc', ['to_string'])],
      cart: CART,
      purchase: ORDER,
    },
    instead: {
      'Product Viewed': [
        TITLE,
        from(source.productId, '_pks', ['to_string'], { required: true }),
        from(source.productName, '_pkn', ['to_string']),
        from(source.CATEGORY, '_pkc', ['to_string']),
        from('properties.price', '_pkp', ['to_number']),
      ],
    },
    others: {
      '@page': event(undefined, [
        from(source.OWN_PAGE_URL, 'url', [], { required: true }),
        from('name', 'action_name'),
        from(source.PAGE_TITLE, 'action_name'),
      ]),
      '@screen': event(undefined, [
        template('app://{{context.app.namespace}}/{{name}}', 'url'),
        from('name', 'action_name', [], { required: true }),
      ]),
      '@identify': DISABLED,
      '@group': DISABLED,
    },
    defaults: { action: 'map', mappings: EVENTS },
  }),
});
