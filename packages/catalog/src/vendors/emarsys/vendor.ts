/**
 * https://dev.emarsys.com/docs/core-api-reference/fl0xx6rwfbwqb-trigger-an-external-event and Update Contacts (the vendor's OpenAPI
 * documents). Token call: segmentio/action-destinations, actions-emarsys.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { errorInside, RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { digits, eventTable, optionalText, secret, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import { clientCredentialsAt } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

const auth = clientCredentialsAt('{{parameters.token_url}}', { style: 'basic' });
/** Errors stand inside a 200: replyCode, and the external ids of a batch. */
const ANSWERS: RequestDefinition['answers'] = [
  {
    status: [200],
    verdict: 'partial',
    partial: { keys: ['body.data.errors'], reason: 'body.data.errors', failed: 'refused', others: 'delivered' },
  },
  errorInside(
    {
      all: [
        { field: 'body.replyCode', op: 'exists' },
        { field: 'body.replyCode', op: 'ne', value: 0 },
      ],
    },
    'body.replyText',
    [200],
  ),
  { status: [400], verdict: 'refused', reason: 'body.replyText', isolate: true },
  { status: [429], verdict: 'unavailable', reason: 'body.replyText', retry_after: { ms: 60_000 } },
  RETRY_TIMEOUT,
];
const IS_EVENT = { field: 'type', op: 'in', value: ['track', 'page'] };

export default defineVendor({
  key: 'emarsys',
  name: 'SAP Emarsys',
  description: 'Triggers external events in SAP Emarsys, and keeps its contacts.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://dev.emarsys.com/docs/core-api-reference/',
  api_version: { version: 'v3', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Emarsys open Management, Security settings, Create API credentials, OpenID Connect, and permit the calls for contacts and external events.',
    'Create an external event for each event (Admin, External events), and enter its number in the table below.',
  ],
  see_it: 'Open Contacts, look the contact up, and open its timeline; the external event shows in the reports of its programme.',
  notes: [
    'Only events with a row in the table are sent. The contact must exist in Emarsys: an identify creates it.',
    'The event id is the trigger_id, by which Emarsys removes duplicates.',
    'Credentials of the older kind (WSSE) end with the year 2026 and are not supported.',
    'Without the advanced features of Interactions, Emarsys rejects an event that starts no active programme or e-mail.',
  ],
  config_fields: [
    text('client_id', 'Client ID', '0c5b3d6e7a2f4c399a552f6f6d6a1c11', 'Management, Security settings, API credentials.'),
    secret('client_secret', 'Client secret', 'abcdefghijklmnopqrstuvwxyz012345', 'It is shown once.'),
    optionalText('token_url', 'Token URL', 'https://auth.emarsys.net/oauth2/token', 'As the page of the credentials shows it.', {
      format: 'url',
      default: 'https://auth.emarsys.net/oauth2/token',
    }),
    eventTable(
      'events_table',
      'External events',
      text('event_id', 'External event ID', '1234', 'The number of the external event.', digits()),
      'Admin, External events.',
      { required: false },
    ),
  ],
  requests: [
    {
      name: 'trigger',
      when: { field: 'payload.number', op: 'exists' },
      method: 'POST',
      url: 'https://api.emarsys.net/api/v3/event/{{lane.number}}/trigger',
      auth,
      lane: ['number'],
      items: 'trigger',
      item_keys: ['external_id'],
      // 3 is the number of the field e-mail.
      body: { kind: 'json_list', under: 'contacts', common: { key_id: '3' } },
      batch: { max_items: 1_000, max_bytes: 900_000, interval_ms: 2_000 },
      answers: ANSWERS,
    },
    {
      name: 'contact',
      when: { field: 'payload.contact', op: 'exists' },
      method: 'PUT',
      url: 'https://api.emarsys.net/api/v3/contact/',
      query: { create_if_not_exists: '1' },
      auth,
      items: 'contact',
      item_keys: ['3'],
      body: { kind: 'json_list', under: 'contacts', common: { key_id: '3' } },
      batch: { max_items: 1_000, max_bytes: 900_000, interval_ms: 2_000, combine: { by: '3', how: 'merge' } },
      answers: ANSWERS,
    },
  ],
  event_table: { field: 'events_table', event: 'event', vendor_event_name: 'event_id' },
  event_name: { target: 'number', only_with: 'trigger' },
  require_one_of: [['trigger.external_id', 'contact']],
  default_action: 'drop',
  rate: { rps: 15 },
  variants: blueprints({
    names: {},
    global: [
      from(source.EMAIL, 'trigger.external_id', [PLAIN_EMAIL], { when: IS_EVENT }),
      from('event_id', 'trigger.trigger_id', [], { when: IS_EVENT }),
      from('timestamp', 'trigger.event_time', ['to_iso8601'], { when: IS_EVENT }),
      from('properties', 'trigger.data', [], { when: IS_EVENT }),
    ],
    lines: {},
    others: {
      '@identify': event(undefined, [
        from(source.EMAIL, 'contact["3"]', [PLAIN_EMAIL], { required: true }),
        from(source.FIRST_NAME, 'contact["1"]', ['trim']),
        from(source.LAST_NAME, 'contact["2"]', ['trim']),
      ]),
    },
  }),
});
