/** https://www.courier.com/docs/reference/send/message and /reference/profiles/create; trycourier/courier-node, src/resources. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { eventTable, secret, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const auth: RequestDefinition['auth'] = { kind: 'bearer', token: '{{parameters.api_key}}' };
const ANSWERS: AnswerRule[] = [RETRY_TIMEOUT];
const IS_EVENT = { field: 'type', op: 'in', value: ['track', 'page'] };

export default defineVendor({
  key: 'courier',
  name: 'Courier',
  description: 'Sends notification templates of Courier, and keeps its profiles.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://www.courier.com/docs/reference/send/message',
  api_version: { version: '/send', checked: '2026-11-16' },
  default_consent_category: 'functional',
  setup_steps: [
    'In Courier open Settings, API keys, and copy the key of the environment.',
    'Create a notification template for each event, and enter its id in the table below.',
  ],
  see_it: 'Open Logs: the message shows with the status of its delivery.',
  notes: [
    'Only events with a row in the table of templates are sent, to the user of the event.',
    'The event id is the idempotency key.',
    'The fields of messages and profiles are those of Courier’s own libraries. Limits are not published.',
  ],
  config_fields: [
    secret('api_key', 'API key', 'pk_prod_0123456789ABCDEFGHIJKLMNOPQR', 'Settings, API keys.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    eventTable(
      'templates',
      'Templates',
      text('template_id', 'Template ID', '4H2XVRZDP14V7MH0S30GJPHPGRZE', 'Of the template that is sent.'),
      'Designer, your template, Settings, Notification ID.',
      { required: false },
    ),
  ],
  requests: [
    {
      name: 'send',
      when: { field: 'payload.message.template', op: 'exists' },
      method: 'POST',
      url: 'https://api.courier.com/send',
      headers: { 'Idempotency-Key': '{{lane.id}}' },
      auth,
      lane: ['id'],
      items: 'message',
      shape: { message: { $ref: 'payload' } },
      body: { kind: 'json' },
      answers: ANSWERS,
    },
    {
      name: 'profile',
      method: 'POST',
      url: 'https://api.courier.com/profiles/{{event.user_id}}',
      auth,
      items: 'profile',
      shape: { profile: { $ref: 'payload' } },
      body: { kind: 'json' },
      answers: ANSWERS,
    },
  ],
  send: 'all',
  event_table: { field: 'templates', event: 'event', vendor_event_name: 'template_id' },
  event_name: { target: 'message.template', only_with: 'message.data' },
  require_one_of: [['message.to.user_id', 'message.to.email', 'message.to.phone_number', 'profile']],
  default_action: 'drop',
  rate: { rps: 20 },
  variants: blueprints({
    names: {},
    global: [
      from('event_id', 'id'),
      from('user_id', 'message.to.user_id', [], { when: IS_EVENT }),
      from(source.EMAIL, 'message.to.email', [PLAIN_EMAIL], { when: IS_EVENT }),
      from(source.PHONE, 'message.to.phone_number', [PLAIN_PHONE], { when: IS_EVENT }),
      from('properties', 'message.data', [], { when: IS_EVENT, default: {} }),
    ],
    lines: {},
    others: {
      '@identify': event(undefined, [
        from('user_id', 'user_id', [], { required: true }),
        from(source.EMAIL, 'profile.email', [PLAIN_EMAIL]),
        from(source.PHONE, 'profile.phone_number', [PLAIN_PHONE]),
        from(source.FIRST_NAME, 'profile.given_name', ['trim']),
        from(source.LAST_NAME, 'profile.family_name', ['trim']),
        from('context.locale', 'profile.locale'),
      ]),
    },
  }),
});
