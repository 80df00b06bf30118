/** https://developers.brevo.com/reference/create-batch-events and /reference/create-contact */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret } from '../shared/fields.ts';
import { event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { ofUser, PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const PHONE = PLAIN_PHONE;
const ANSWERS: AnswerRule[] = [
  // 207: some events failed, 400: all of them. The errors list their positions.
  {
    status: [207, 400],
    verdict: 'partial',
    partial: { indexes: ['body.errors[*].eventIndex'], reason: 'body.errors[0].message', failed: 'refused', others: 'delivered' },
  },
  { status: [400, 413], verdict: 'refused', reason: 'body.message', isolate: true },
  { status: [429], verdict: 'unavailable', reason: 'body.message', retry_after: { header: 'x-sib-ratelimit-reset' } },
  RETRY_TIMEOUT,
];
const auth = { kind: 'header', name: 'api-key', value: '{{parameters.api_key}}' } as const;

export default defineVendor({
  key: 'brevo',
  name: 'Brevo',
  description: 'Events and contacts into Brevo, for automations and segments.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://developers.brevo.com/reference/create-batch-events',
  api_version: { version: 'v3', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Brevo open Settings, SMTP and API, API keys, Generate a new API key.',
    'Create the contact attributes that you map (Contacts, Settings, Contact attributes).',
  ],
  see_it: 'Open the contact: the event shows in its history. Open Automations, Logs, for what it started.',
  notes: [
    'Names of events and properties are sent with letters, digits and underscores; every other character becomes an underscore.',
    'Contact attributes that do not exist in Brevo are ignored or rejected there.',
    'Brevo has no deduplication: a retry after a timeout can repeat an event.',
    'Amounts are sent as numbers: the text of the reference allows them, its schema lists whole numbers only.',
    'The reference names no limit for a batch; 100 events are sent.',
  ],
  config_fields: [
    secret('api_key', 'API key', 'xkeysib-0123456789abcdef-0123456789', 'Settings, SMTP and API, API keys. Not the SMTP key.', {
      pattern: '^(?!xsmtpsib)\\S+$',
      pattern_hint: 'an API key (xkeysib-…), not an SMTP key',
    }),
  ],
  requests: [
    {
      name: 'contact',
      when: { field: 'payload.contact', op: 'exists' },
      method: 'POST',
      url: 'https://api.brevo.com/v3/contacts',
      auth,
      items: 'contact',
      body: { kind: 'json' },
      answers: ANSWERS,
    },
    {
      name: 'events',
      method: 'POST',
      url: 'https://api.brevo.com/v3/events/batch',
      auth,
      items: 'event',
      body: { kind: 'json_list', under: 'events' },
      batch: { max_items: 100, max_bytes: 500_000, interval_ms: 1_000 },
      answers: ANSWERS,
    },
  ],
  event_name: { target: 'event.event_name', style: 'identifier', max_length: 255 },
  limits: [{ path: 'event.event_properties', max_key_length: 255, key_style: 'identifier' }],
  require_one_of: [['event.identifiers.email_id', 'event.identifiers.ext_id', 'event.identifiers.phone_id']],
  default_action: 'drop',
  rate: { rps: 10 },
  variants: blueprints({
    names: 'keep',
    global: [
      ...ofUser(source.EMAIL, 'event.identifiers.email_id', [PLAIN_EMAIL]),
      from('user_id', 'event.identifiers.ext_id'),
      ...ofUser(source.PHONE, 'event.identifiers.phone_id', [PHONE]),
      from('timestamp', 'event.event_date'),
      from('properties', 'event.event_properties'),
    ],
    lines: {},
    others: {
      '@page': event('page_viewed', [
        from('name', 'event.event_properties.page_name'),
        from(source.OWN_PAGE_URL, 'event.event_properties.page_url'),
      ]),
      '@screen': event('screen_viewed', [from('name', 'event.event_properties.screen_name')]),
      '@identify': event(undefined, [
        from(source.EMAIL, 'contact.email', [PLAIN_EMAIL]),
        from('user_id', 'contact.ext_id'),
        from(source.FIRST_NAME, 'contact.attributes.FIRSTNAME', ['trim']),
        from(source.LAST_NAME, 'contact.attributes.LASTNAME', ['trim']),
        from(source.PHONE, 'contact.attributes.SMS', [PHONE]),
        set('contact.updateEnabled', true),
      ]),
      '@group': event('group_joined', [
        from('group_id', 'event.event_properties.group_id'),
        from('traits.name', 'event.event_properties.group_name'),
      ]),
    },
  }),
});
