/** https://www.twilio.com/docs/sendgrid/api-reference/contacts/add-or-update-a-contact (twilio/sendgrid-oai). */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { optionalText, secret, select } from '../shared/fields.ts';
import { event, from, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

const CONTACT = [
  from(source.EMAIL, 'email', [PLAIN_EMAIL], { required: true }),
  from(source.FIRST_NAME, 'first_name', ['trim', use('truncate', 50)]),
  from(source.LAST_NAME, 'last_name', ['trim', use('truncate', 50)]),
  from(source.STREET, 'address_line_1', ['to_string', use('truncate', 100)]),
  from(source.CITY, 'city', ['to_string', use('truncate', 60)]),
  from(source.STATE, 'state_province_region', ['to_string', use('truncate', 50)]),
  from(source.POSTAL_CODE, 'postal_code', ['to_string']),
  from(source.COUNTRY, 'country', ['to_string', use('truncate', 50)]),
];

export default defineVendor({
  key: 'sendgrid',
  name: 'SendGrid',
  description: 'Contacts into SendGrid Marketing Campaigns.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://www.twilio.com/docs/sendgrid/api-reference/contacts/add-or-update-a-contact',
  api_version: { version: 'v3', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In SendGrid open Settings, API keys, Create API key, with full access to Marketing.',
    'For a list: Marketing, Contacts, open the list, and copy its ID from the address bar.',
  ],
  see_it: 'Open Marketing, Contacts, look the contact up: an upsert shows after some minutes.',
  notes: [
    'One blueprint: SendGrid has no events of visitors. Identify calls, sign-ups and newsletter subscriptions become contacts, other events are dropped.',
    'Custom fields are addressed by their id (such as e1_T); map traits to custom_fields.<id>.',
    'SendGrid processes contacts later; the result of the job is polled. A job with single errors does not say which contacts failed.',
    'Contacts are identified by their address only: SendGrid demands every identifier that a contact has.',
  ],
  config_fields: [
    secret('api_key', 'API key', 'SG.0123456789abcdefghijkl.0123456789abcdefghijklmnopqrstuvwxyz0123456', 'Settings, API keys.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    optionalText(
      'list_id',
      'List ID',
      '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11',
      'Adds every contact to this list. Marketing, Contacts, your list, the end of the address.',
      { pattern: source.UUID, pattern_hint: 'a UUID' },
    ),
    select('region', 'Region', ['api.sendgrid.com', 'api.eu.sendgrid.com'], 'api.eu.sendgrid.com for a subuser of the EU.'),
  ],
  request: {
    method: 'PUT',
    url: 'https://{{parameters.region}}/v3/marketing/contacts',
    auth: { kind: 'bearer', token: '{{parameters.api_key}}' },
    body: { kind: 'json_list', under: 'contacts', common: { list_ids: ['{{parameters.list_id}}'] } },
    batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 5_000, combine: { by: 'email', how: 'merge' } },
    answers: [
      { status: [202], verdict: 'accepted', job: 'body.job_id' },
      { status: [400, 413], verdict: 'refused', reason: 'body.errors[0].message', isolate: true },
      { status: [401, 403, 404], verdict: 'refused', reason: 'body.errors[0].message' },
      RETRY_TIMEOUT,
    ],
    poll: {
      url: 'https://{{parameters.region}}/v3/marketing/contacts/imports/{{job.id}}',
      answers: [
        { status: [200], when: { field: 'body.status', op: 'eq', value: 'pending' }, verdict: 'accepted' },
        { status: [200], when: { field: 'body.status', op: 'eq', value: 'failed' }, verdict: 'refused', reason: 'body.results.errors_url' },
        { status: [200], when: { field: 'body.status', op: 'eq', value: 'errored' }, verdict: 'delivered', reason: 'body.results' },
      ],
      first_ms: 10_000,
      every_ms: 30_000,
      within_ms: 3_600_000,
    },
  },
  default_action: 'drop',
  rate: { rps: 3 },
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Identified visitors, sign-ups and newsletter subscriptions as contacts.',
      default_config: {
        version: 2,
        events: {
          '@identify': event(undefined, CONTACT),
          'Signed Up': event(undefined, CONTACT),
          'Newsletter Subscribed': event(undefined, CONTACT),
        },
        defaults: { action: 'drop' },
      },
    },
  ],
});
