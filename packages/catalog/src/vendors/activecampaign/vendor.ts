/** https://developers.activecampaign.com/reference/track-event and /reference/sync-a-contacts-data */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, text } from '../shared/fields.ts';
import { DISABLED, event, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

export default defineVendor({
  key: 'activecampaign',
  name: 'ActiveCampaign',
  description: 'Contacts and tracked events into ActiveCampaign.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://developers.activecampaign.com/reference/track-event',
  api_version: { version: 'v3', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In ActiveCampaign open Settings, Developer, and copy the URL and the key.',
    'Open Website, Site tracking, switch Event tracking on, and copy the event key and the actid.',
  ],
  see_it: 'Open the contact: the event shows in its recent activities. Identify calls show in the contact’s fields.',
  notes: [
    'Names of events are cut to 32 characters.',
    'An event carries one value (eventdata): its label, plan, order id, product id or name. Change it in the mapping.',
    'Custom fields are addressed by their number: map traits to contact.fieldValues[0].field and .value.',
    'ActiveCampaign accepts five requests a second for an account. Page views are not sent.',
  ],
  config_fields: [
    text('api_url', 'API URL', 'https://acme.api-us1.com', 'Settings, Developer, URL. Without a slash at the end.', {
      format: 'url',
      pattern: '[^/]$',
      pattern_hint: 'without a slash at the end',
    }),
    secret('api_key', 'API key', '0123456789abcdef0123456789abcdef0123456789abcdef', 'Settings, Developer, Key.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    secret('event_key', 'Event key', '0123456789abcdef0123456789abcdef01234567', 'Website, Site tracking, Event tracking, Event key.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    text('actid', 'Account number (actid)', '476123456', 'Website, Site tracking, Event tracking API, actid.', {
      pattern: '^\\d+$',
      pattern_hint: 'digits only',
    }),
  ],
  requests: [
    {
      name: 'contact',
      when: { field: 'payload.contact', op: 'exists' },
      method: 'POST',
      url: '{{parameters.api_url}}/api/3/contact/sync',
      auth: { kind: 'header', name: 'Api-Token', value: '{{parameters.api_key}}' },
      items: 'contact',
      shape: { contact: { $ref: 'payload' } },
      body: { kind: 'json' },
      answers: [{ status: [422], verdict: 'refused', reason: 'body.errors[0].title' }, RETRY_TIMEOUT],
    },
    {
      name: 'event',
      method: 'POST',
      url: 'https://trackcmp.net/event',
      items: 'event',
      fill: { actid: '{{parameters.actid}}', key: '{{parameters.event_key}}' },
      body: { kind: 'form' },
      // 200 with success 0: the event was not stored.
      answers: [
        { status: [200], when: { field: 'body.success', op: 'in', value: [0, '0', false] }, verdict: 'refused', reason: 'body.message' },
        RETRY_TIMEOUT,
      ],
    },
  ],
  event_name: { target: 'event.event', max_length: 32 },
  require_one_of: [['event.visit.email']],
  default_action: 'drop',
  rate: { rps: 5, burst: 5 },
  variants: blueprints({
    names: 'keep',
    global: [
      from(source.EMAIL, 'event.visit.email', [PLAIN_EMAIL]),
      from(
        ['properties.label', 'properties.plan', 'properties.order_id', 'properties.booking_id', 'properties.product_id', 'properties.name'],
        'event.eventdata',
        ['to_string'],
      ),
    ],
    lines: {},
    others: {
      '@page': DISABLED,
      '@group': DISABLED,
      '@identify': event(undefined, [
        from(source.EMAIL, 'contact.email', [PLAIN_EMAIL]),
        from(source.FIRST_NAME, 'contact.firstName', ['trim']),
        from(source.LAST_NAME, 'contact.lastName', ['trim']),
        from(source.PHONE, 'contact.phone', ['trim']),
      ]),
    },
  }),
});
