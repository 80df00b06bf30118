/**
 * https://developer.salesforce.com/docs/platform/api-rest/guide/dome-upsert.html, …/dome-query.html, for addresses the object reference
 * (Address Compound Fields) and, for the token,
 * help.salesforce.com "OAuth 2.0 JWT Bearer Flow for Server-to-Server Integration".
 */
import type { JsonObject } from '@firsthand/core/json.ts';
import type { ChainStep } from '@firsthand/core/vendor/chain.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { optionalSecret, optionalText, select, text } from '../shared/fields.ts';
import { event, from, type Rest, use } from '../shared/mapping.ts';
import { clientCredentialsAt, connectTo, refreshTokenOf } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';
import { PHONE_IS_READABLE, PLAIN_EMAIL } from '../shared/user-data.ts';

const DATA = '{{parameters.login_url}}/services/data/{{parameters.api_version}}';
const RECORDS = `${DATA}/sobjects/{{parameters.object}}`;
const TOKEN_URL = '{{parameters.login_url}}/services/oauth2/token';
const auth: ChainStep['auth'] = {
  kind: 'choice',
  field: 'authentication',
  options: {
    jwt: {
      kind: 'oauth2_jwt_bearer',
      token_url: TOKEN_URL,
      // Salesforce accepts an assertion that expires within three minutes.
      jwt: {
        algorithm: 'RS256',
        private_key: '{{parameters.private_key}}',
        claims: { iss: '{{parameters.client_id}}', sub: '{{parameters.username}}', aud: '{{parameters.audience}}' },
        lifetime_s: 180,
      },
    },
    client_credentials: clientCredentialsAt(TOKEN_URL),
    oauth: refreshTokenOf('salesforce'),
  },
};

const CODE = 'body[0].errorCode';
const retried = (...codes: string[]): AnswerRule => ({
  when: { field: CODE, op: 'in', value: codes },
  verdict: 'unavailable',
  reason: 'body[0].message',
});
const ANSWERS: AnswerRule[] = [
  { status: [401], verdict: 'refresh_token', reason: 'body[0].message' },
  retried('REQUEST_LIMIT_EXCEEDED', 'UNABLE_TO_LOCK_ROW', 'SERVER_UNAVAILABLE', 'QUERY_TIMEOUT'),
  // A trigger of the organisation met a locked record, or used up the queries of its transaction.
  {
    when: {
      all: [
        { field: CODE, op: 'eq', value: 'CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY' },
        { field: 'body[0].message', op: 'matches', value: 'UNABLE_TO_LOCK_ROW|Too many SOQL queries' },
      ],
    },
    verdict: 'unavailable',
    reason: 'body[0].message',
  },
  { status: [400, 403, 404], verdict: 'refused', reason: 'body[0].message' },
  RETRY_TIMEOUT,
];
const BY_EXTERNAL_ID = { field: 'parameters.external_id_field', op: 'exists' } as const;
const BY_EMAIL = { field: 'parameters.external_id_field', op: 'not_exists' } as const;

/** SOQL texts stand in single quotes. */
const SOQL = [use('replace', '\\\\', '\\\\'), use('replace', "'", "\\'")];
const ADDRESS = {
  Contact: { city: 'MailingCity', state: 'MailingState', postal_code: 'MailingPostalCode', country: 'MailingCountry' },
  Lead: { city: 'City', state: 'State', postal_code: 'PostalCode', country: 'Country' },
};
/** A new record must have a last name, a lead also a company; an update must not overwrite them with a stand-in. */
function record(object: 'Contact' | 'Lead', at: 'create' | 'update'): JsonObject[] {
  const needed: Rest = at === 'create' ? { default: 'n/a' } : {};
  const address = ADDRESS[object];
  return [
    from(source.EMAIL, `${at}.Email`, [PLAIN_EMAIL]),
    from(source.FIRST_NAME, `${at}.FirstName`, ['trim']),
    from(source.LAST_NAME, `${at}.LastName`, ['trim'], needed),
    from(source.PHONE, `${at}.Phone`, ['trim'], { when: PHONE_IS_READABLE }),
    from(['traits.title', 'context.traits.title'], `${at}.Title`, ['trim']),
    ...(object === 'Lead' ? [from(['traits.company.name', 'traits.company'], `${at}.Company`, ['trim'], needed)] : []),
    from(source.CITY, `${at}.${address.city}`, ['trim']),
    from(source.STATE, `${at}.${address.state}`, ['trim']),
    from(source.POSTAL_CODE, `${at}.${address.postal_code}`, ['trim']),
    from(source.COUNTRY, `${at}.${address.country}`, ['trim']),
  ];
}
function variant(object: 'Contact' | 'Lead'): JsonObject {
  const person = event(undefined, [
    from(source.EMAIL, 'find', [PLAIN_EMAIL, ...SOQL]),
    from('user_id', 'external_id', ['to_string']),
    ...record(object, 'create'),
    ...record(object, 'update'),
  ]);
  return {
    version: 2,
    object,
    events: { '@identify': person, 'Signed Up': person, 'Lead Generated': person, 'Demo Requested': person },
    defaults: { action: 'drop' },
  };
}

export default defineVendor({
  key: 'salesforce',
  name: 'Salesforce',
  description: 'Creates and updates contacts or leads, by an external ID field or by e-mail address.',
  category: 'other',
  group: 'crm_and_support',
  status: 'ga',
  website: 'https://developer.salesforce.com/docs/platform/api-rest/guide/dome-upsert.html',
  api_version: { version: 'v67.0', checked: '2026-11-16', field: 'api_version' },
  setup_steps: [
    'In Setup, App Manager create a connected app with OAuth and the scopes api and refresh_token.',
    'For jwt: upload a certificate to the app, pre-authorise a user, and enter the consumer key, the user name and the private key.',
    'For oauth: add the callback URL of this installation (BASE_URL/v1/oauth/callback), enter consumer key and secret, and press Connect.',
    'Recommended: create a text field with External ID and Unique on the object, and enter its API name.',
  ],
  see_it: 'Open the lead, contact or account: its fields have changed.',
  notes: [
    'Without an external ID field two events of a new person at the same moment can create two records. With one Salesforce prevents that.',
    'Duplicate rules of the organisation apply; a record that they block becomes a dead letter.',
  ],
  config_fields: [
    text('login_url', 'My Domain', 'https://acme.my.salesforce.com', 'Setup, My Domain, current My Domain URL, without a path.', {
      format: 'url',
      pattern: '^https?://[^/?#\\s]+$',
      pattern_hint: 'an address without a path, such as https://acme.my.salesforce.com',
    }),
    select('object', 'Object', ['Contact', 'Lead'], 'What a person becomes. The mappings of the variant belong to it.'),
    optionalText(
      'external_id_field',
      'External ID field',
      'Firsthand_ID__c',
      'API name of an External ID field that receives the user ID.',
      {
        pattern: '^[A-Za-z]\\w{0,79}$',
        pattern_hint: 'the API name of a field, such as Firsthand_ID__c',
      },
    ),
    select('authentication', 'Authentication', ['jwt', 'client_credentials', 'oauth'], 'How the connected app signs in.'),
    text(
      'client_id',
      'Consumer key',
      '3MVG9IHf89I1t8hrvswazsWedXWY0iqK20PSFaInvUgLFB6vrcb9bbWFTSIHpo8G2jxBLJA6uZGyPFC5Aejq',
      'Of the connected app.',
    ),
    optionalSecret('client_secret', 'Consumer secret', '0123456789ABCDEF', 'Of the connected app; for client_credentials and oauth.', {
      required_when: { field: 'authentication', equals: 'client_credentials' },
    }),
    optionalText('username', 'User name', 'integration@acme.example', 'The user whose rights apply; for jwt.', {
      required_when: { field: 'authentication', equals: 'jwt' },
    }),
    optionalSecret(
      'private_key',
      'Private key',
      '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----',
      'PEM, of the certificate in the connected app; for jwt.',
      {
        multiline: true,
        required_when: { field: 'authentication', equals: 'jwt' },
      },
    ),
    select('audience', 'Audience', ['https://login.salesforce.com', 'https://test.salesforce.com'], 'test for sandboxes; for jwt.'),
    optionalSecret('refresh_token', 'Refresh token', '5Aep861TSESvWeug_xvFHRBTTbf_YrTWgEyjBJrhyoU', 'Connect writes it; for oauth.', {
      required_when: { field: 'authentication', equals: 'oauth' },
    }),
    optionalText('api_version', 'API version', 'v67.0', 'Of the REST API.', {
      default: 'v67.0',
      pattern: '^v\\d{2,3}\\.0$',
      pattern_hint: 'a version such as v67.0',
    }),
  ],
  connect: connectTo('salesforce', ['api', 'refresh_token'], { authentication: 'oauth' }),
  chain: [
    {
      name: 'upsert',
      when: BY_EXTERNAL_ID,
      method: 'PATCH',
      url: `${RECORDS}/{{parameters.external_id_field}}/{{event.user_id}}`,
      auth,
      items: 'create',
      body: { kind: 'json' },
      answers: ANSWERS,
    },
    {
      name: 'find',
      when: BY_EMAIL,
      method: 'GET',
      url: `${DATA}/query`,
      query: { q: "SELECT Id FROM {{parameters.object}} WHERE Email = '{{payload.find}}' ORDER BY CreatedDate LIMIT 1" },
      auth,
      body: { kind: 'none' },
      answers: ANSWERS,
      keep: { id: 'body.records[0].Id' },
      remember: { key: '{{payload.find}}', for_ms: 86_400_000 },
    },
    {
      name: 'create',
      when: { all: [BY_EMAIL, { field: 'steps.find.id', op: 'not_exists' }] },
      method: 'POST',
      url: RECORDS,
      auth,
      items: 'create',
      body: { kind: 'json' },
      answers: ANSWERS,
    },
    {
      name: 'update',
      when: { all: [BY_EMAIL, { field: 'steps.find.id', op: 'exists' }] },
      method: 'PATCH',
      url: `${RECORDS}/{{steps.find.id}}`,
      auth,
      items: 'update',
      body: { kind: 'json' },
      answers: ANSWERS,
    },
  ],
  require_one_of: [['find']],
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  concurrency: 4,
  variants: [
    { key: 'default', name: 'Contacts', description: 'Identified people as contacts.', default_config: variant('Contact') },
    { key: 'leads', name: 'Leads', description: 'Identified people as leads.', default_config: variant('Lead') },
  ],
});
