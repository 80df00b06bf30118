import type { ChainStep } from '@firsthand/core/vendor/chain.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalSecret, select } from '../shared/fields.ts';
import { connectTo, oauthFields, refreshTokenOf } from '../shared/oauth.ts';

const CONTACTS = 'https://api.hubapi.com/crm/v3/objects/contacts';
const auth: ChainStep['auth'] = {
  kind: 'choice',
  field: 'auth',
  options: { private_app: { kind: 'bearer', token: '{{parameters.access_token}}' }, oauth: refreshTokenOf('hubspot') },
};
const BY_EMAIL = `${CONTACTS}/{{payload.properties.email}}`;

/** Creates are not idempotent at HubSpot, so the contact is looked up first and the lookup is remembered. */
export default defineVendor({
  key: 'hubspot',
  name: 'HubSpot',
  description: 'Creates and updates CRM contacts by e-mail address.',
  category: 'other',
  group: 'crm_and_support',
  status: 'beta',
  website: 'https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/guide',
  setup_steps: [
    'Create a private app with the scopes crm.objects.contacts.read and crm.objects.contacts.write, and copy its access token.',
    'Or create a public app with these scopes and the redirect URI of this installation (BASE_URL/v1/oauth/callback), choose oauth, enter the client ID and secret, and press Connect.',
  ],
  see_it: 'Open the contact: its properties have changed.',
  notes: ['Not tried against a live account.', 'Properties that HubSpot does not know must be created there first.'],
  config_fields: [
    select(
      'auth',
      'Authentication',
      ['private_app', 'oauth'],
      'private_app: the access token of a private app. oauth: your own public app, connected with Connect.',
    ),
    optionalSecret(
      'access_token',
      'Access token',
      'pat-eu1-0123abcd-4567-89ef-0123-456789abcdef',
      'Of the private app: Settings, Integrations, Private apps.',
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
      answers: [{ status: [404], verdict: 'delivered' }],
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
      answers: [{ status: [409], verdict: 'delivered' }],
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
    },
    {
      name: 'update',
      when: { field: 'steps.find.id', op: 'exists' },
      method: 'PATCH',
      url: `${CONTACTS}/{{steps.find.id}}`,
      auth,
      body: { kind: 'json' },
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
              { source: 'traits.email', target: 'properties.email', transforms: ['trim', 'lowercase'] },
              { source: 'traits.first_name', target: 'properties.firstname' },
              { source: 'traits.last_name', target: 'properties.lastname' },
              { source: 'traits.phone', target: 'properties.phone' },
              { source: 'traits.company', target: 'properties.company' },
              { source: 'traits.address.city', target: 'properties.city' },
              { source: 'traits.address.country', target: 'properties.country' },
            ],
          },
        },
        defaults: { action: 'drop' },
      },
    },
  ],
});
