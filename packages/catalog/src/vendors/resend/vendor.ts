/** https://resend.com/docs/api-reference/events/send-event and /contacts/create-contact */
import type { ChainStep } from '@firsthand/core/vendor/chain.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret } from '../shared/fields.ts';
import { DISABLED, event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

const auth: ChainStep['auth'] = { kind: 'bearer', token: '{{parameters.api_key}}' };
const ANSWERS: AnswerRule[] = [RETRY_TIMEOUT];

export default defineVendor({
  key: 'resend',
  name: 'Resend',
  description: 'Events that start automations, and contacts, in Resend.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://resend.com/docs/api-reference/events/send-event',
  api_version: { version: 'events, contacts', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Resend open API keys, Create API key, with full access.',
    'Create an automation whose trigger has the name of the event.',
  ],
  see_it: 'Open Automations, the automation, Runs: the run shows with the event.',
  notes: [
    'An event without an automation starts nothing. Names that begin with resend: are reserved.',
    'A contact is updated by its address, and created if Resend does not know it.',
    'Page views are not sent.',
    'Resend names different limits on different pages (2, 5 or 10 requests a second); 2 are sent.',
  ],
  config_fields: [
    secret('api_key', 'API key', 're_0123456789_abcdefghijklmnopqrstuv', 'API keys.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
  ],
  chain: [
    {
      name: 'update',
      when: { field: 'payload.contact', op: 'exists' },
      method: 'PATCH',
      url: 'https://api.resend.com/contacts/{{payload.email}}',
      auth,
      shape: { $ref: 'payload.contact' },
      body: { kind: 'json' },
      answers: [{ status: [404], verdict: 'delivered' }, ...ANSWERS],
      keep: { status: 'status' },
    },
    {
      name: 'create',
      when: { field: 'steps.update.status', op: 'eq', value: 404 },
      method: 'POST',
      url: 'https://api.resend.com/contacts',
      auth,
      shape: { email: '{{payload.email}}', first_name: '{{payload.contact.first_name}}', last_name: '{{payload.contact.last_name}}' },
      body: { kind: 'json' },
      answers: ANSWERS,
    },
    {
      name: 'event',
      when: { field: 'payload.event', op: 'exists' },
      method: 'POST',
      url: 'https://api.resend.com/events/send',
      auth,
      items: 'event',
      body: { kind: 'json' },
      answers: ANSWERS,
    },
  ],
  event_name: { target: 'event.event', only_with: 'event.email', reserved_prefixes: ['resend:'] },
  require_one_of: [['email']],
  default_action: 'drop',
  rate: { rps: 2, burst: 2 },
  variants: blueprints({
    names: 'keep',
    global: [
      from(source.EMAIL, 'email', [PLAIN_EMAIL]),
      from(source.EMAIL, 'event.email', [PLAIN_EMAIL], { when: { field: 'type', op: 'eq', value: 'track' } }),
      from('properties', 'event.payload', [], { when: { field: 'type', op: 'eq', value: 'track' } }),
    ],
    lines: {},
    others: {
      '@page': DISABLED,
      '@group': DISABLED,
      '@identify': event(undefined, [
        set('contact', {}),
        from(source.FIRST_NAME, 'contact.first_name', ['trim']),
        from(source.LAST_NAME, 'contact.last_name', ['trim']),
      ]),
    },
  }),
});
