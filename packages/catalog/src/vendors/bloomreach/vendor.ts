/** https://documentation.bloomreach.com/engagement/reference/batch-commands-2 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT, resultPerEvent } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, text } from '../shared/fields.ts';
import { event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { readableTraits } from '../shared/user-data.ts';

/** Bloomreach keeps newer values, in whatever order the updates arrive. */
const UPDATED = from('timestamp', 'data.update_timestamp', ['to_unix_seconds']);
const IS_EVENT = { field: 'type', op: 'in', value: ['track', 'page'] };

export default defineVendor({
  key: 'bloomreach',
  name: 'Bloomreach Engagement',
  description: 'Customers and events into Bloomreach Engagement (Exponea).',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://documentation.bloomreach.com/engagement/reference/batch-commands-2',
  api_version: { version: 'track v2', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Bloomreach open Project settings, Access management, API, and create a group of the type private with the permissions Customer properties set and Events set.',
    'Copy the API key ID, the API secret, the project token and the base URL.',
  ],
  see_it: 'Open the customer under Data & Assets, Customers: the event shows in its history at once.',
  notes: [
    'The user id is the hard id registered, the anonymous id the soft id cookie. Both together merge the visitor into the customer.',
    'Bloomreach has no deduplication: a retry after a timeout can repeat an event.',
    'Bloomreach does not keep the order of a batch; each event and each update of a customer carries its own time.',
  ],
  config_fields: [
    text(
      'base_url',
      'API base URL',
      'https://api.exponea.com',
      'Project settings, Access management, API, API base URL. Without a slash at the end.',
      { format: 'url', pattern: '[^/]$', pattern_hint: 'without a slash at the end' },
    ),
    text(
      'project_token',
      'Project token',
      '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11',
      'Project settings, Access management, API, Project token.',
      { pattern: '^[0-9a-fA-F-]{32,36}$', pattern_hint: 'a UUID' },
    ),
    text('api_key_id', 'API key ID', '0123456789abcdefghijklmnopqrstuvwxyz', 'Of the private API group.'),
    secret('api_secret', 'API secret', 'abcdefghijklmnopqrstuvwxyz0123456789', 'Of the private API group; it is shown once.'),
  ],
  request: {
    method: 'POST',
    url: '{{parameters.base_url}}/track/v2/projects/{{parameters.project_token}}/batch',
    auth: { kind: 'basic', username: '{{parameters.api_key_id}}', password: '{{parameters.api_secret}}' },
    body: { kind: 'json_list', under: 'commands' },
    batch: { max_items: 50, max_bytes: 1_000_000, interval_ms: 1_000 },
    answers: [
      { status: [200], ...resultPerEvent('body.results', { field: 'success', op: 'eq', value: true }, 'errors[0]') },
      { status: [400, 413], verdict: 'refused', reason: 'body.errors', isolate: true },
      RETRY_TIMEOUT,
    ],
  },
  event_name: { target: 'data.event_type', only_with: 'data.timestamp' },
  require_one_of: [['data.customer_ids.registered', 'data.customer_ids.cookie']],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: [
      from('user_id', 'data.customer_ids.registered'),
      from('anonymous_id', 'data.customer_ids.cookie'),
      set('name', 'customers/events', { when: IS_EVENT }),
      from('timestamp', 'data.timestamp', ['to_unix_seconds'], { when: IS_EVENT }),
      from('properties', 'data.properties', [], { when: IS_EVENT }),
    ],
    lines: {},
    others: {
      '@page': event('page_visit', [from('name', 'data.properties.page_name'), from(source.OWN_PAGE_URL, 'data.properties.location')]),
      '@screen': event('screen_view', [from('name', 'data.properties.screen_name')]),
      '@identify': event(undefined, [set('name', 'customers'), UPDATED, ...readableTraits('data.properties')]),
      '@group': event(undefined, [
        set('name', 'customers'),
        UPDATED,
        from('group_id', 'data.properties.group_id'),
        from('traits.name', 'data.properties.group_name'),
      ]),
    },
  }),
});
