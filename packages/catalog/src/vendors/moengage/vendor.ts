/** https://www.moengage.com/docs/api/event/track-event and /api/user/track-user */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const ANSWERS: AnswerRule[] = [RETRY_TIMEOUT];
const post = (name: 'event' | 'customer'): RequestDefinition => ({
  name,
  method: 'POST',
  url: `https://{{parameters.data_center}}/v1/${name}/{{parameters.workspace_id}}`,
  auth: { kind: 'basic', username: '{{parameters.workspace_id}}', password: '{{parameters.api_key}}' },
  items: name,
  body: { kind: 'json' },
  answers: ANSWERS,
});
const ACTION = 'event.actions[0]';
/** Traits with a field of MoEngage's own, and names that MoEngage blocks. */
const OWN_FIELDS = ['email', 'phone', 'first_name', 'firstName', 'last_name', 'lastName', 'address', 'id', '_id'];

export default defineVendor({
  key: 'moengage',
  name: 'MoEngage',
  description: 'Users and events into MoEngage.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://www.moengage.com/docs/api/event/track-event',
  api_version: { version: 'Data API v1', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In MoEngage open Settings, Account, APIs, and copy the workspace ID and the Data API key.',
    'Choose the data centre: the number in the address of the dashboard (dashboard-01 to dashboard-06, dashboard-101).',
    'For a test use the ID and key of the TEST workspace.',
  ],
  see_it: 'Open Segment, Recent events, or the user’s profile, Activity info.',
  notes: [
    'Users are identified by the user id, or by the anonymous id where there is none.',
    'MoEngage reserves names that begin with moe_; such events are dropped. Do not use such names for properties and traits either.',
    'The local time of the user (user_time) is not sent: MoEngage computes it from the time zone of the user or of the workspace.',
    'There is no deduplication: a retry after a timeout can repeat an event.',
  ],
  config_fields: [
    text('workspace_id', 'Workspace ID', '0123456789ABCDEFGHIJKLMN', 'Settings, Account, APIs, Workspace ID (App ID).', {
      pattern: '^[A-Za-z0-9_]+$',
      pattern_hint: 'letters, digits and underscores',
    }),
    secret('api_key', 'Data API key', 'abcdefghijklmnopqrstuvwx', 'Settings, Account, APIs, Data.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    {
      key: 'data_center',
      label: 'Data centre',
      type: 'select',
      required: false,
      placeholder: 'api-01.moengage.com',
      help_text: 'The number in the address of the dashboard.',
      options: ['01', '02', '03', '04', '05', '06', '101'].map((number) => `api-${number}.moengage.com`),
      default: 'api-01.moengage.com',
    },
  ],
  requests: [{ ...post('event'), when: { field: 'event.type', op: 'in', value: ['track', 'page'] } }, post('customer')],
  send: 'all',
  event_name: { target: `${ACTION}.action`, reserved_prefixes: ['moe_'] },
  limits: [{ path: `${ACTION}.attributes`, max_keys: 100 }],
  require_one_of: [['event.customer_id']],
  default_action: 'drop',
  rate: { rps: 160 },
  variants: blueprints({
    names: 'keep',
    global: [
      set('event.type', 'event'),
      from(['user_id', 'anonymous_id'], 'event.customer_id'),
      from('timestamp', `${ACTION}.current_time`, ['to_unix_seconds']),
      from('properties', `${ACTION}.attributes`),
      set(`${ACTION}.platform`, 'web', { when: { field: 'context.page', op: 'exists' } }),
      set(`${ACTION}.platform`, 'iOS', { when: { all: [source.IS_APP, source.IS_APPLE] } }),
      set(`${ACTION}.platform`, 'ANDROID', { when: { all: [source.IS_APP, source.IS_ANDROID] } }),
      from('context.app.version', `${ACTION}.app_version`, ['to_string']),
    ],
    lines: {},
    others: {
      '@page': event('Page Viewed', [
        from('name', `${ACTION}.attributes.page_name`),
        from(source.OWN_PAGE_URL, `${ACTION}.attributes.page_url`),
      ]),
      '@screen': event('Screen Viewed', [from('name', `${ACTION}.attributes.screen_name`)]),
      '@identify': event(undefined, [
        set('customer.type', 'customer'),
        from(['user_id', 'anonymous_id'], 'customer.customer_id'),
        from('traits', 'customer.attributes', [use('omit', ...OWN_FIELDS)]),
        from(source.EMAIL, 'customer.attributes.email', [PLAIN_EMAIL]),
        from(source.PHONE, 'customer.attributes.mobile', [PLAIN_PHONE]),
        from(source.FIRST_NAME, 'customer.attributes.first_name', ['trim']),
        from(source.LAST_NAME, 'customer.attributes.last_name', ['trim']),
      ]),
      '@group': event(undefined, [
        set('customer.type', 'customer'),
        from(['user_id', 'anonymous_id'], 'customer.customer_id'),
        from('group_id', 'customer.attributes.group_id'),
        from('traits.name', 'customer.attributes.group_name'),
      ]),
    },
  }),
});
