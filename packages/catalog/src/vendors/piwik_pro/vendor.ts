/**
 * https://developers.piwik.pro/reference/tracking-api (PiwikPRO/PPMS-PublicDocs, data_collection/api/tracking_api.yaml); `search_cats`:
 * PiwikPRO/server-side-template-for-gtm-v2, Piwik PRO's own server-side tag.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { contextLines } from '../shared/context.ts';
import { text } from '../shared/fields.ts';
import { DISABLED, event, from } from '../shared/mapping.ts';
import { CART, EVENT, ORDER, RESOLUTION, SEARCH, TITLE, VISITOR } from '../shared/matomo-lines.ts';
import { template } from '../shared/messages.ts';
import * as source from '../shared/sources.ts';
import { EVENT_KINDS } from '../shared/standard-events.ts';

export default defineVendor({
  key: 'piwik_pro',
  name: 'Piwik PRO',
  description: 'Page views, events, searches and orders into Piwik PRO.',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://developers.piwik.pro/reference/tracking-api',
  api_version: { version: 'Tracking HTTP API', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In Piwik PRO open Menu, Administration, Sites and apps, and copy the ID of the site or app.',
    'Note the address of your account, such as example.piwik.pro.',
  ],
  see_it: 'Open Analytics, Settings, Tracker debugger: the event shows within seconds.',
  notes: [
    'Piwik PRO accepts events of the last 24 hours; older ones are dropped.',
    'It also accepts data that it cannot use, and shows them in the Tracker debugger only.',
    'Orders and carts use the parameters of the older e-commerce reports, which the documentation lists (idgoal 0, ec_items).',
    'One currency applies to a site. Identify and group calls are not sent.',
  ],
  config_fields: [
    text(
      'host',
      'Account address',
      'example.piwik.pro',
      'The host in the address bar of Piwik PRO, or your own tracking domain, without https://.',
      { pattern: '^[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$', pattern_hint: 'a host name without https:// and without slashes' },
    ),
    text('site_id', 'Site or app ID', '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11', 'Menu, Administration, Sites and apps.', {
      pattern: source.UUID,
      pattern_hint: 'a UUID',
    }),
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.host}}/ppms.php',
    fill: { idsite: '{{parameters.site_id}}' },
    body: { kind: 'form' },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'e_a', only_with: 'e_c' },
  require_one_of: [['url'], ['_id', 'uid']],
  max_event_age_hours: 24,
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: [
      ...VISITOR,
      ...contextLines('', { url: 'url', referrer: 'urlref', user_agent: 'ua', locale: 'lang', ip: 'cip' }),
      RESOLUTION,
      // An app has no address: Piwik PRO needs one.
      template('app://{{context.app.namespace}}', 'url', [], { when: { field: 'context.app.namespace', op: 'exists' } }),
    ],
    lines: {
      ...Object.fromEntries(EVENT_KINDS.map((kind) => [kind, EVENT])),
      search: [...SEARCH, from(source.CATEGORY, 'search_cats', ['to_list', 'json_stringify'])],
      list: [TITLE],
      cart: CART,
      purchase: ORDER,
    },
    others: {
      '@page': event(undefined, [from(source.OWN_PAGE_URL, 'url'), from('name', 'action_name'), from(source.PAGE_TITLE, 'action_name')]),
      '@screen': event(undefined, [template('app://{{context.app.namespace}}/{{name}}', 'url'), from('name', 'action_name')]),
      '@identify': DISABLED,
      '@group': DISABLED,
    },
    defaults: { action: 'map', mappings: EVENT },
  }),
});
