/** https://developer.salesforce.com/docs/marketing/marketing-cloud/references/mc_rest_interaction/ (postEvent, updateDataExtensionIDAsync). */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { eventTable, optionalText, secret, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import { clientCredentialsAt } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const auth = clientCredentialsAt('https://{{parameters.subdomain}}.auth.marketingcloudapis.com/v2/token', {
  extra: { account_id: '{{parameters.account_id}}' },
  style: 'json',
});
const REST = 'https://{{parameters.subdomain}}.rest.marketingcloudapis.com';
const ROW = [
  from(source.EMAIL, 'row.SubscriberKey', [PLAIN_EMAIL]),
  from('user_id', 'row.SubscriberKey'),
  from(source.EMAIL, 'row.EmailAddress', [PLAIN_EMAIL]),
  from(source.FIRST_NAME, 'row.FirstName', ['trim']),
  from(source.LAST_NAME, 'row.LastName', ['trim']),
  from(source.PHONE, 'row.MobileNumber', [PLAIN_PHONE]),
];

export default defineVendor({
  key: 'salesforce_marketing_cloud',
  name: 'Salesforce Marketing Cloud',
  description: 'Starts journeys, and keeps a data extension with your contacts, in Marketing Cloud Engagement.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://developer.salesforce.com/docs/marketing/marketing-cloud/references/mc_rest_interaction/',
  api_version: { version: 'interaction v1, data v1', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Marketing Cloud open Setup, Platform tools, Apps, Installed packages, New, and add an API integration component of the type server-to-server.',
    'Give it the scopes journeys_execute, data_extensions_read and data_extensions_write.',
    'In Journey Builder add an entry source of the type API event to each journey, and enter its event definition key in the table below.',
    'For contacts: create a data extension with the primary key SubscriberKey and the columns of the mapping, and enter its external key.',
  ],
  see_it: 'Open Journey Builder, the journey, Health: the contact has entered. Data extensions show the row.',
  notes: [
    'Only events with a row in the table of journeys are sent.',
    'The names under Data must be columns of the data extension of the entry event; the default sends the properties without nested ones.',
    'Rows of the data extension are written later (asynchronously): a 202 means that they were queued.',
    'A retry after a timeout can start a journey twice.',
  ],
  config_fields: [
    text(
      'subdomain',
      'Subdomain',
      'mc563885gzs27c5t9-63k636ttgm',
      'The first part of the REST base URI of the API integration component.',
      { pattern: '^[a-z0-9-]+$', pattern_hint: 'the part before .rest.marketingcloudapis.com' },
    ),
    text('client_id', 'Client ID', '0123456789abcdefghijklmn', 'Installed packages, your package, API integration.'),
    secret('client_secret', 'Client secret', 'abcdefghijklmnopqrstuvwx', 'Installed packages, your package, API integration.'),
    optionalText(
      'account_id',
      'Business unit (MID)',
      '500012345',
      'Hover over the name of the business unit. Only for another unit than that of the package.',
      { pattern: '^\\d+$', pattern_hint: 'digits only' },
    ),
    eventTable(
      'journeys',
      'Journeys',
      text('event_definition_key', 'Event definition key', 'APIEvent-0c5b3d6e', 'Of the API event that starts the journey.', {
        pattern: '^[^.\\s]+$',
        pattern_hint: 'without periods and spaces',
      }),
      'Journey Builder, your journey, the API event, Event definition key.',
      { required: false },
    ),
    optionalText(
      'data_extension_key',
      'Data extension',
      'Contacts_Firsthand',
      'Contact Builder, Data extensions, External key. Without it identify calls are dropped.',
    ),
  ],
  requests: [
    {
      name: 'row',
      when: {
        all: [
          { field: 'payload.row', op: 'exists' },
          { field: 'parameters.data_extension_key', op: 'exists' },
        ],
      },
      method: 'PUT',
      url: `${REST}/data/v1/async/dataextensions/key:{{parameters.data_extension_key}}/rows`,
      auth,
      items: 'row',
      body: { kind: 'json_list', under: 'items' },
      batch: { max_items: 200, max_bytes: 1_000_000, interval_ms: 2_000, combine: { by: 'SubscriberKey', how: 'merge' } },
      answers: [{ status: [400], verdict: 'refused', reason: 'body.message', isolate: true }, RETRY_TIMEOUT],
    },
    {
      name: 'journey',
      when: { field: 'payload.journey.EventDefinitionKey', op: 'exists' },
      method: 'POST',
      url: `${REST}/interaction/v1/events`,
      headers: { 'Content-Type': 'application/json; charset=UTF-8' },
      auth,
      items: 'journey',
      body: { kind: 'json' },
      answers: [RETRY_TIMEOUT],
    },
  ],
  event_table: { field: 'journeys', event: 'event', vendor_event_name: 'event_definition_key' },
  event_name: { target: 'journey.EventDefinitionKey', only_with: 'journey.ContactKey' },
  limits: [{ path: 'journey.Data', scalars_only: true }],
  require_one_of: [['journey.ContactKey', 'row.SubscriberKey']],
  default_action: 'drop',
  rate: { rps: 20 },
  variants: blueprints({
    names: {},
    global: [
      from(source.EMAIL, 'journey.ContactKey', [PLAIN_EMAIL], { when: { field: 'type', op: 'ne', value: 'identify' } }),
      from('user_id', 'journey.ContactKey', [], { when: { field: 'type', op: 'ne', value: 'identify' } }),
      from('properties', 'journey.Data'),
      from(source.EMAIL, 'journey.Data.EmailAddress', [PLAIN_EMAIL], { when: { field: 'type', op: 'ne', value: 'identify' } }),
    ],
    lines: {},
    others: { '@identify': event(undefined, ROW) },
  }),
});
