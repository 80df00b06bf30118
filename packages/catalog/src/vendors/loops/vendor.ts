/** https://loops.so/docs/api-reference/send-event and /update-contact */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret } from '../shared/fields.ts';
import { DISABLED, event, from, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

/** The event with this idempotency key was stored before. */
const SENT_BEFORE: AnswerRule = { status: [409], verdict: 'delivered', reason: 'body.message' };
const auth = { kind: 'bearer', token: '{{parameters.api_key}}' } as const;

export default defineVendor({
  key: 'loops',
  name: 'Loops',
  description: 'Contacts and events into Loops, for its e-mails.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://loops.so/docs/api-reference/send-event',
  api_version: { version: 'v1', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: ['In Loops open Settings, API, Generate key.', 'Create the contact properties that you map (Settings, Contact properties).'],
  see_it: 'Open the contact: the event shows in its activity; Settings, Events lists the new event.',
  notes: [
    'An event creates the contact if it is new.',
    'The event id is the idempotency key; Loops answers 409 to a repeated event, which counts as delivered.',
    'Nested properties are left out; texts are cut to 500 characters. Page views are not sent.',
    'Loops accepts ten requests a second.',
  ],
  config_fields: [
    secret('api_key', 'API key', '0123456789abcdef0123456789abcdef', 'Settings, API.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
  ],
  requests: [
    {
      name: 'contact',
      when: { field: 'payload.contact', op: 'exists' },
      method: 'PUT',
      url: 'https://app.loops.so/api/v1/contacts/update',
      auth,
      items: 'contact',
      body: { kind: 'json' },
      answers: [RETRY_TIMEOUT],
    },
    {
      name: 'event',
      method: 'POST',
      url: 'https://app.loops.so/api/v1/events/send',
      headers: { 'Idempotency-Key': '{{lane.id}}' },
      auth,
      lane: ['id'],
      items: 'event',
      body: { kind: 'json' },
      answers: [SENT_BEFORE, RETRY_TIMEOUT],
    },
  ],
  event_name: { target: 'event.eventName' },
  limits: [{ path: 'event.eventProperties', max_string_length: 500, scalars_only: true }],
  require_one_of: [['event.email', 'event.userId']],
  default_action: 'drop',
  rate: { rps: 10, burst: 10 },
  variants: blueprints({
    names: 'keep',
    global: [
      from('event_id', 'id', [use('truncate', 100)]),
      from(source.EMAIL, 'event.email', [PLAIN_EMAIL]),
      from('user_id', 'event.userId'),
      from('properties', 'event.eventProperties'),
    ],
    lines: {},
    others: {
      '@page': DISABLED,
      '@group': DISABLED,
      '@identify': event(undefined, [
        from(source.EMAIL, 'contact.email', [PLAIN_EMAIL]),
        from('user_id', 'contact.userId'),
        from(source.FIRST_NAME, 'contact.firstName', ['trim', use('truncate', 500)]),
        from(source.LAST_NAME, 'contact.lastName', ['trim', use('truncate', 500)]),
      ]),
    },
  }),
});
