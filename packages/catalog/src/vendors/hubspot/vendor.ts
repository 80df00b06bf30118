import type { ChainStep } from '@firsthand/core/vendor/chain.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { optionalSecret, select } from '../shared/fields.ts';
import { from } from '../shared/mapping.ts';
import { connectTo, oauthFields, refreshTokenOf } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';
import { PHONE_IS_READABLE, PLAIN_EMAIL } from '../shared/user-data.ts';

const CONTACTS = 'https://api.hubapi.com/crm/objects/2026-03/contacts';
const auth: ChainStep['auth'] = {
  kind: 'choice',
  field: 'auth',
  options: { private_app: { kind: 'bearer', token: '{{parameters.access_token}}' }, oauth: refreshTokenOf('hubspot') },
};
/** developers.hubspot.com/docs/api-reference/error-handling: a record is locked for two seconds; an account moves for up to a day. */
const RETRIED: AnswerRule[] = [
  { status: [423], verdict: 'unavailable', reason: 'body.message', retry_after: { ms: 2_000 } },
  { status: [477], verdict: 'unavailable', reason: 'body.message' },
  RETRY_TIMEOUT,
];
const BY_EMAIL = `${CONTACTS}/{{payload.properties.email}}`;

/** Creates are not idempotent at HubSpot, so the contact is looked up first and the lookup is remembered. */
export default defineVendor({
  key: 'hubspot',
  name: 'HubSpot',
  description: 'Creates and updates CRM contacts by e-mail address.',
  category: 'other',
  group: 'crm_and_support',
  status: 'beta',
  website: 'https://developers.hubspot.com/docs/api-reference/latest/crm/objects/contacts/guide',
  setup_steps: [
    'Create a service key with the scopes crm.objects.contacts.read and crm.objects.contacts.write, or copy the access token of a private app that has them: HubSpot offers no new private apps.',
    'Or create a public app with these scopes and the redirect URI of this installation (BASE_URL/v1/oauth/callback), choose oauth, enter the client ID and secret, and press Connect.',
  ],
  see_it: 'Open the contact: its properties have changed.',
  api_version: { version: '2026-03', checked: '2026-11-16' },
  notes: [
    'Open: the internal names of the properties of the address and of jobtitle were seen in public clients only. The others, the paths and idProperty were seen in HubSpot’s guide.',
    'Properties that HubSpot does not know must be created there first.',
    'The API has dates as versions since March 2026. HubSpot ends its support of v3 in September 2027.',
    'HubSpot supports a dated version for at least 18 months. From 2026-09 on it enforces the rules of an account (required properties) for API writes too; 2026-03 does not.',
  ],
  config_fields: [
    select(
      'auth',
      'Authentication',
      ['private_app', 'oauth'],
      'private_app: a service key, or the access token of a private app. oauth: your own public app, connected with Connect.',
    ),
    optionalSecret(
      'access_token',
      'Access token',
      'pat-eu1-0123abcd-4567-89ef-0123-456789abcdef',
      'The service key, or the access token of the private app.',
      { required_when: { field: 'auth', equals: 'private_app' } },
    ),
    ...oauthFields(
      {
        help_text: 'Of your public app, on its page Auth.',
        client_id: '7fff1e36-2d40-4ae1-bbb1-5266d59564fb',
        client_secret: '0123abcd-4567-89ef-0123-456789abcdef',
        refresh_token: 'eu1-0123-abcd-4567-89ef',
      },
      { field: 'auth', equals: 'oauth' },
    ),
  ],
  connect: connectTo('hubspot', ['oauth', 'crm.objects.contacts.read', 'crm.objects.contacts.write'], { auth: 'oauth' }),
  chain: [
    {
      name: 'find',
      method: 'GET',
      url: BY_EMAIL,
      query: { idProperty: 'email' },
      auth,
      body: { kind: 'none' },
      answers: [{ status: [404], verdict: 'delivered' }, ...RETRIED],
      keep: { id: 'body.id' },
      remember: { key: '{{payload.properties.email}}', for_ms: 86_400_000 },
    },
    {
      name: 'create',
      when: { field: 'steps.find.id', op: 'not_exists' },
      method: 'POST',
      url: CONTACTS,
      auth,
      body: { kind: 'json' },
      // Another event created the contact in the meantime: the next step updates it.
      answers: [{ status: [409], verdict: 'delivered' }, ...RETRIED],
      keep: { status: 'status' },
    },
    {
      name: 'update_created',
      when: { field: 'steps.create.status', op: 'eq', value: 409 },
      method: 'PATCH',
      url: BY_EMAIL,
      query: { idProperty: 'email' },
      auth,
      body: { kind: 'json' },
      answers: RETRIED,
    },
    {
      name: 'update',
      when: { field: 'steps.find.id', op: 'exists' },
      method: 'PATCH',
      url: `${CONTACTS}/{{steps.find.id}}`,
      auth,
      body: { kind: 'json' },
      answers: RETRIED,
    },
  ],
  require_one_of: [['properties.email']],
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  concurrency: 4,
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Identified visitors as contacts.',
      default_config: {
        events: {
          '@identify': {
            mappings: [
              from(source.EMAIL, 'properties.email', [PLAIN_EMAIL]),
              from(source.FIRST_NAME, 'properties.firstname', ['trim']),
              from(source.LAST_NAME, 'properties.lastname', ['trim']),
              from(source.PHONE, 'properties.phone', ['trim'], { when: PHONE_IS_READABLE }),
              // Segment's specification has an object here, most senders a text.
              from(['traits.company.name', 'traits.company'], 'properties.company', ['trim']),
              from(['traits.title', 'traits.job_title'], 'properties.jobtitle', ['trim']),
              from('traits.website', 'properties.website', ['trim']),
              from(source.STREET, 'properties.address', ['trim']),
              from(source.CITY, 'properties.city', ['trim']),
              from(source.STATE, 'properties.state', ['trim']),
              from(source.POSTAL_CODE, 'properties.zip', ['trim']),
              from(source.COUNTRY, 'properties.country', ['trim']),
            ],
          },
        },
        defaults: { action: 'drop' },
      },
    },
  ],
});
