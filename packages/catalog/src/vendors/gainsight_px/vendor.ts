/** https://px-apidocs.gainsight.com; https://support.gainsight.com/PX/API_for_Developers ("Use Custom Event API"). */
import type { ChainStep } from '@firsthand/core/vendor/chain.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, select, text } from '../shared/fields.ts';
import { DISABLED, event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

const step = (name: string, method: string, path: string, rest: Partial<ChainStep>): ChainStep => ({
  name,
  method,
  url: `https://{{parameters.region}}/v1/${path}`,
  auth: { kind: 'header', name: 'X-APTRINSIC-API-KEY', value: '{{parameters.api_key}}' },
  body: { kind: 'json' },
  answers: [RETRY_TIMEOUT],
  ...rest,
});
const has = (field: string) => ({ field, op: 'exists' }) as const;
const MISSING: AnswerRule[] = [{ status: [404], verdict: 'delivered' }, RETRY_TIMEOUT];
const notFound = (name: string) => ({ field: `steps.${name}.status`, op: 'eq', value: 404 }) as const;

export default defineVendor({
  key: 'gainsight_px',
  name: 'Gainsight PX',
  description: 'Custom events, users and accounts into Gainsight PX.',
  category: 'other',
  group: 'crm_and_support',
  status: 'beta',
  website: 'https://support.gainsight.com/PX/API_for_Developers',
  api_version: { version: 'v1', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In Gainsight PX open Administration, REST API, New API key, with write permission for events, users and accounts.',
    'Copy the product key (AP-…) from Administration, Products.',
  ],
  see_it: 'Open Audience Explorer, the user, Activity: the event shows there.',
  notes: [
    'Events of visitors without a user id are dropped. Page views are not sent.',
    'A user or account that PX does not know is created. Custom attributes must exist in PX before they are mapped.',
    'Nested properties become texts in PX. Events cannot be deleted there.',
    'PX keeps 50 properties of an event, and takes a million requests a day.',
    'Open: the paths and fields of the calls for users and accounts come from a public implementation; the answer to an event is unconfirmed.',
  ],
  config_fields: [
    secret('api_key', 'API key', '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11', 'Administration, REST API.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    text('product_key', 'Product key', 'AP-XABC0123456-2', 'Administration, Products, Product key.', {
      pattern: '^AP-[A-Z0-9-]+$',
      pattern_hint: 'AP- and letters, digits and dashes',
    }),
    select(
      'region',
      'Region',
      ['api.aptrinsic.com', 'api-eu.aptrinsic.com', 'api-us2.aptrinsic.com'],
      'The address of PX: app, app-eu or app-us2.',
    ),
  ],
  chain: [
    step('update_account', 'PUT', 'accounts/{{event.group_id}}', {
      when: { all: [has('payload.account.id'), has('payload.account.name')] },
      shape: { name: '{{payload.account.name}}' },
      answers: MISSING,
      keep: { status: 'status' },
    }),
    step('create_account', 'POST', 'accounts', { when: notFound('update_account'), items: 'account' }),
    step('update_user', 'PUT', 'users/{{event.user_id}}', {
      when: has('payload.user.identifyId'),
      items: 'user',
      answers: MISSING,
      keep: { status: 'status' },
    }),
    step('create_user', 'POST', 'users', { when: notFound('update_user'), items: 'user' }),
    step('event', 'POST', 'events/custom', { when: has('payload.event.eventName'), items: 'event' }),
  ],
  event_name: { target: 'event.eventName', only_with: 'event.userType', max_length: 2_000 },
  limits: [{ path: 'event.attributes', max_keys: 50, max_key_length: 1_024 }],
  require_one_of: [['event.identifyId', 'user.identifyId', 'account.id']],
  default_action: 'drop',
  rate: { rps: 20, daily: 1_000_000 },
  concurrency: 4,
  variants: blueprints({
    names: 'keep',
    global: [
      from('user_id', 'event.identifyId', ['trim'], { when: { field: 'type', op: 'eq', value: 'track' } }),
      from('parameters.product_key', 'event.propertyKey', [], { when: { field: 'type', op: 'eq', value: 'track' } }),
      set('event.userType', 'USER', { when: { field: 'type', op: 'eq', value: 'track' } }),
      from('context.group_id', 'event.accountId', [], { when: { field: 'type', op: 'eq', value: 'track' } }),
      from('timestamp', 'event.date', ['to_unix_millis'], { when: { field: 'type', op: 'eq', value: 'track' } }),
      from('properties', 'event.attributes', [], { when: { field: 'type', op: 'eq', value: 'track' } }),
      from(source.PAGE_URL, 'event.url', [], { when: { field: 'type', op: 'eq', value: 'track' } }),
      from(source.REFERRER, 'event.referrer', [], { when: { field: 'type', op: 'eq', value: 'track' } }),
    ],
    lines: {},
    others: {
      '@page': DISABLED,
      '@identify': event(undefined, [
        from('user_id', 'user.identifyId', ['trim']),
        set('user.type', 'USER'),
        from('parameters.product_key', 'user.propertyKeys[0]'),
        from(source.EMAIL, 'user.email', [PLAIN_EMAIL]),
        from(source.FIRST_NAME, 'user.firstName', ['trim']),
        from(source.LAST_NAME, 'user.lastName', ['trim']),
      ]),
      '@group': event(undefined, [
        from('group_id', 'account.id', ['trim']),
        from('traits.name', 'account.name', ['to_string']),
        from('user_id', 'user.identifyId', ['trim']),
        set('user.type', 'USER'),
        from('parameters.product_key', 'user.propertyKeys[0]'),
        from('group_id', 'user.accountId'),
      ]),
    },
  }),
});
