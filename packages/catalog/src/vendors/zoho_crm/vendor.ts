/** https://www.zoho.com/crm/developer/docs/api/v8/upsert-records.html and …/multi-dc.html */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AuthDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT, resultPerEvent } from '../shared/answers.ts';
import { secret, select, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import { refreshTokenAt } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';
import { PHONE_IS_READABLE, PLAIN_EMAIL } from '../shared/user-data.ts';

const DATA_CENTERS = ['com', 'eu', 'in', 'com.au', 'jp', 'com.cn', 'sa', 'ca'];
/** Canada signs in at another domain than it is called. */
const signIn = (center: string): AuthDefinition => ({
  ...refreshTokenAt(`https://accounts.${center === 'ca' ? 'zohocloud.ca' : `zoho.${center}`}/oauth/v2/token`),
  place: { header: 'Authorization', prefix: 'Zoho-oauthtoken ' },
});

const PERSON = [
  from(source.EMAIL, 'Email', [PLAIN_EMAIL], { required: true }),
  from(source.FIRST_NAME, 'First_Name', ['trim']),
  // Zoho demands a last name; without one the address stands in.
  from(source.EMAIL, 'Last_Name', [PLAIN_EMAIL]),
  from('traits.name', 'Last_Name', ['trim']),
  from(source.LAST_NAME, 'Last_Name', ['trim']),
  from(source.PHONE, 'Phone', ['trim'], { when: PHONE_IS_READABLE }),
  from(['traits.company.name', 'traits.company'], 'Company', ['trim'], {
    default: 'Unknown',
    when: { field: 'parameters.module', op: 'eq', value: 'Leads' },
  }),
];

export default defineVendor({
  key: 'zoho_crm',
  name: 'Zoho CRM',
  description: 'Leads or contacts in Zoho CRM, by e-mail address.',
  category: 'other',
  group: 'crm_and_support',
  status: 'ga',
  website: 'https://www.zoho.com/crm/developer/docs/api/v8/upsert-records.html',
  api_version: { version: 'v8', checked: '2026-11-16' },
  setup_steps: [
    'In the Zoho API console (api-console.zoho.com) add a self client, and copy its client ID and secret.',
    'Generate a code with the scope ZohoCRM.modules.ALL, exchange it for a refresh token, and enter that token.',
    'Choose the data centre: the ending of the address of Zoho CRM.',
  ],
  see_it: 'Open the lead or contact: its fields have changed; Timeline shows by whom.',
  notes: [
    'Identify calls, sign-ups, leads and demo requests create or update a record; other events are dropped.',
    'A lead without a company gets the company Unknown; a person without a last name the address as last name. Zoho demands both, also in an update: send company and last_name with every identify.',
    'Further fields are addressed by their API names (Setup, Developer space, APIs, API names).',
  ],
  config_fields: [
    select(
      'data_center',
      'Data centre',
      DATA_CENTERS,
      'The ending of the address: crm.zoho.com, .eu, .in, .com.au, .jp, .com.cn or .sa; ca for crm.zohocloud.ca.',
    ),
    select('module', 'Module', ['Leads', 'Contacts'], 'What a person becomes.'),
    text('client_id', 'Client ID', '1000.ABCDEFGHIJKLMNOPQRSTUVWXYZ0123', 'API console, your client.', {
      pattern: '^1000\\.[A-Z0-9]+$',
      pattern_hint: '1000. and letters and digits',
    }),
    secret('client_secret', 'Client secret', '0123456789abcdef0123456789abcdef0123456789', 'API console, your client.'),
    secret(
      'refresh_token',
      'Refresh token',
      '1000.0123456789abcdef0123456789abcdef.0123456789abcdef0123456789abcdef',
      'The answer to the exchange of the code.',
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://www.zohoapis.{{parameters.data_center}}/crm/v8/{{parameters.module}}/upsert',
    auth: { kind: 'choice', field: 'data_center', options: Object.fromEntries(DATA_CENTERS.map((center) => [center, signIn(center)])) },
    body: { kind: 'json_list', under: 'data', common: { duplicate_check_fields: ['Email'] } },
    batch: { max_items: 100, max_bytes: 1_000_000, interval_ms: 2_000, combine: { by: 'Email', how: 'merge' } },
    answers: [
      { status: [200, 201, 202, 207], ...resultPerEvent('body.data', { field: 'status', op: 'eq', value: 'success' }, 'message') },
      { status: [400, 413], verdict: 'refused', reason: 'body.message', isolate: true },
      RETRY_TIMEOUT,
    ],
  },
  default_action: 'drop',
  rate: { rps: 5 },
  concurrency: 4,
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Identified visitors, sign-ups, leads and demo requests as leads or contacts.',
      default_config: {
        version: 2,
        global: { mappings: PERSON },
        events: Object.fromEntries(
          ['@identify', 'Signed Up', 'Lead Generated', 'Demo Requested'].map((name) => [name, event(undefined, [])]),
        ),
        defaults: { action: 'drop' },
      },
    },
  ],
});
