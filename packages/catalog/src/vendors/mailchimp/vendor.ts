/** https://mailchimp.com/developer/marketing/api/list-members/ and /list-member-events/; mailchimp/mailchimp-marketing-typescript-sdk. */
import type { ChainStep } from '@firsthand/core/vendor/chain.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, select, text } from '../shared/fields.ts';
import { DISABLED, event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PHONE_IS_READABLE, PLAIN_EMAIL } from '../shared/user-data.ts';

const MEMBER = 'https://{{parameters.data_center}}.api.mailchimp.com/3.0/lists/{{parameters.audience_id}}/members/{{payload.hash}}';
const auth: ChainStep['auth'] = { kind: 'basic', username: 'firsthand', password: '{{parameters.api_key}}' };
const ANSWERS: AnswerRule[] = [
  { status: [429], verdict: 'unavailable', reason: 'body.detail' },
  RETRY_TIMEOUT,
  { status: ['4xx'], verdict: 'refused', reason: 'body.detail' },
];
const has = (field: string) => ({ field, op: 'exists' }) as const;

export default defineVendor({
  key: 'mailchimp',
  name: 'Mailchimp',
  description: 'Audience members and their events into Mailchimp.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://mailchimp.com/developer/marketing/api/list-member-events/',
  api_version: { version: '3.0', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Mailchimp open Account and billing, Extras, API keys, Create a key. The part after its dash is the data centre.',
    'Open Audience, Settings, Audience name and defaults, and copy the audience ID.',
  ],
  see_it: 'Open the contact: the event shows in its activity feed.',
  notes: [
    'A member who is not in the audience is added first, with the status you choose. The status of a member who is there is never changed.',
    'Names of events have 2 to 30 letters, digits and underscores; properties are texts, about 1,000 characters in all.',
    'Page views are not sent: Mailchimp accepts 10 connections at once.',
    'Mailchimp names no exact limit of properties; 20 with at most 200 characters each are sent.',
  ],
  config_fields: [
    secret('api_key', 'API key', '0123456789abcdef0123456789abcdef-us21', 'Account and billing, Extras, API keys.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    text('data_center', 'Data centre', 'us21', 'The part of the API key after the dash.', {
      pattern: '^[a-z]{2,4}\\d{1,3}$',
      pattern_hint: 'letters and digits such as us21',
    }),
    text('audience_id', 'Audience ID', 'a1b2c3d4e5', 'Audience, Settings, Audience name and defaults.', {
      pattern: '^[0-9a-z]{6,20}$',
      pattern_hint: 'letters and digits, usually 10',
    }),
    select(
      'status_if_new',
      'Status of new members',
      ['transactional', 'subscribed', 'pending', 'unsubscribed'],
      'transactional: no marketing mail. Choose subscribed only if your visitors have opted in.',
    ),
  ],
  chain: [
    {
      name: 'member',
      when: has('payload.profile'),
      method: 'PUT',
      url: MEMBER,
      query: { skip_merge_validation: 'true' },
      auth,
      shape: { $ref: 'payload.profile' },
      body: { kind: 'json' },
      answers: ANSWERS,
    },
    {
      name: 'ensure',
      when: has('payload.event'),
      method: 'PUT',
      url: MEMBER,
      query: { skip_merge_validation: 'true' },
      auth,
      shape: { $ref: 'payload.member' },
      body: { kind: 'json' },
      answers: ANSWERS,
      keep: { id: 'body.id' },
      remember: { key: '{{payload.hash}}', for_ms: 86_400_000 },
    },
    {
      name: 'event',
      when: has('payload.event'),
      method: 'POST',
      url: `${MEMBER}/events`,
      auth,
      shape: { $ref: 'payload.event' },
      body: { kind: 'json' },
      answers: ANSWERS,
    },
  ],
  event_name: { target: 'event.name', only_with: 'event.occurred_at', style: 'identifier', max_length: 30 },
  limits: [{ path: 'event.properties', max_keys: 20, max_string_length: 200 }],
  require_one_of: [['member.email_address']],
  default_action: 'drop',
  rate: { rps: 10 },
  concurrency: 8,
  variants: blueprints({
    names: 'keep',
    global: [
      from(source.EMAIL, 'hash', [PLAIN_EMAIL, 'md5']),
      from(source.EMAIL, 'member.email_address', [PLAIN_EMAIL]),
      from('parameters.status_if_new', 'member.status_if_new'),
      from('timestamp', 'event.occurred_at', [], { when: { field: 'type', op: 'eq', value: 'track' } }),
      from('properties', 'event.properties', ['string_values'], { when: { field: 'type', op: 'eq', value: 'track' } }),
    ],
    lines: {},
    others: {
      '@page': DISABLED,
      '@group': DISABLED,
      '@identify': event(undefined, [
        from(source.EMAIL, 'profile.email_address', [PLAIN_EMAIL]),
        from('parameters.status_if_new', 'profile.status_if_new'),
        set('profile.merge_fields', {}),
        from(source.FIRST_NAME, 'profile.merge_fields.FNAME', ['trim']),
        from(source.LAST_NAME, 'profile.merge_fields.LNAME', ['trim']),
        from(source.PHONE, 'profile.merge_fields.PHONE', ['trim'], { when: PHONE_IS_READABLE }),
      ]),
    },
  }),
});
