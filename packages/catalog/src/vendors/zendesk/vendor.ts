/**
 * https://developer.zendesk.com/api-reference/ticketing/users/events-api/ and /users/users/#create-or-update-user. For the token
 * …/api-reference/ticketing/oauth/grant_type_tokens/ and …/documentation/api-basics/authentication/oauth-migration/ (read 2026-11-16).
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { crmVariants } from '../shared/blueprints.ts';
import { optionalSecret, optionalText, select, text } from '../shared/fields.ts';
import { event, from, set } from '../shared/mapping.ts';
import { clientCredentialsAt } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';
import { fullName, PHONE_IS_READABLE, PLAIN_EMAIL } from '../shared/user-data.ts';

const auth: RequestDefinition['auth'] = {
  kind: 'choice',
  field: 'authentication',
  options: {
    api_token: { kind: 'basic', username: '{{parameters.email}}/token', password: '{{parameters.api_token}}' },
    oauth: clientCredentialsAt('https://{{parameters.subdomain}}.zendesk.com/oauth/tokens', { scope: 'read write', style: 'json' }),
  },
};
const ANSWERS: AnswerRule[] = [
  { status: [409], verdict: 'unavailable', reason: 'body.description' },
  { status: [400, 403, 404, 422], verdict: 'refused', reason: 'body.description' },
  RETRY_TIMEOUT,
];
const IDENTIFIERS = [
  set('profile.source', 'firsthand'),
  set('profile.type', 'visitor'),
  set('profile.identifiers[0].type', 'email', { when: { any: source.EMAIL.map((field) => ({ field, op: 'exists' })) } }),
  from(source.EMAIL, 'profile.identifiers[0].value', [PLAIN_EMAIL]),
  set('profile.identifiers[1].type', 'external_id', { when: { field: 'user_id', op: 'exists' } }),
  from('user_id', 'profile.identifiers[1].value'),
];

export default defineVendor({
  key: 'zendesk',
  name: 'Zendesk',
  description: 'Users, and events on their timeline, in Zendesk Support.',
  category: 'other',
  group: 'crm_and_support',
  status: 'ga',
  website: 'https://developer.zendesk.com/api-reference/ticketing/users/events-api/',
  api_version: { version: 'v2', checked: '2026-11-16' },
  setup_steps: [
    'In Zendesk open Admin centre, Apps and integrations, APIs, OAuth clients, Add OAuth client, and choose the client kind Confidential. Copy its identifier and secret, and choose oauth here.',
    'An API token that exists works until April 30, 2027: choose api_token. Zendesk has issued no new ones since October 27, 2026.',
    'Activate the Events API: it needs the plan Suite Team or above.',
  ],
  see_it: 'Open the user’s profile in the agent workspace: the event shows in the interaction history.',
  notes: [
    'Zendesk deactivates every API token on April 30, 2027, and before that the tokens that nobody used for 30 days. Change to oauth in time.',
    'An event creates the profile and the user if Zendesk does not know them.',
    'Zendesk replaces a profile as a whole, so events carry identifiers and no attributes.',
    'A new user needs a name: without one Zendesk rejects an identify of a user it does not know.',
    'User fields must exist in Zendesk before they are mapped (user.user_fields.<key>).',
  ],
  config_fields: [
    text('subdomain', 'Subdomain', 'acme', 'The part of the address before .zendesk.com.', {
      pattern: '^[a-z0-9-]+$',
      pattern_hint: 'the part before .zendesk.com',
    }),
    select(
      'authentication',
      'Authentication',
      ['api_token', 'oauth'],
      'oauth: a confidential OAuth client of yours. api_token: a token from before October 27, 2026.',
    ),
    optionalText('client_id', 'OAuth client identifier', 'firsthand', 'Admin centre, Apps and integrations, APIs, OAuth clients.', {
      required_when: { field: 'authentication', equals: 'oauth' },
    }),
    optionalSecret('client_secret', 'OAuth client secret', 'af3t24tfj34h43s0123456789abcdef', 'Shown when the client is created.', {
      required_when: { field: 'authentication', equals: 'oauth' },
    }),
    optionalText('email', 'Agent e-mail', 'agent@acme.example', 'The address of an administrator, who owns the token.', {
      required_when: { field: 'authentication', equals: 'api_token' },
      pattern: '^[^@\\s/]+@[^@\\s/]+$',
      pattern_hint: 'an address, without /token',
    }),
    optionalSecret(
      'api_token',
      'API token',
      '6wiIBWbGkBMo1mRDMuVwkw1EPsNkeUj95PIz2akv',
      'Admin centre, Apps and integrations, APIs, Zendesk API.',
      { pattern: '^\\S+$', pattern_hint: 'without spaces', required_when: { field: 'authentication', equals: 'api_token' } },
    ),
  ],
  requests: [
    {
      name: 'user',
      when: { field: 'payload.user', op: 'exists' },
      method: 'POST',
      url: 'https://{{parameters.subdomain}}.zendesk.com/api/v2/users/create_or_update',
      auth,
      items: 'user',
      shape: { user: { $ref: 'payload' } },
      body: { kind: 'json' },
      answers: ANSWERS,
    },
    {
      name: 'event',
      method: 'POST',
      url: 'https://{{parameters.subdomain}}.zendesk.com/api/v2/user_profiles/events',
      auth,
      body: { kind: 'json' },
      answers: ANSWERS,
    },
  ],
  event_name: { target: 'event.type', only_with: 'event', style: 'identifier' },
  compact: [{ path: 'profile.identifiers', needs: ['value'] }],
  require_one_of: [['profile.identifiers', 'user.external_id', 'user.email']],
  default_action: 'drop',
  rate: { rps: 3, burst: 10 },
  variants: crmVariants({
    global: [],
    lines: [
      set('event.source', 'firsthand'),
      from('properties', 'event.properties', [], { default: {} }),
      from('timestamp', 'event.created_at'),
      ...IDENTIFIERS,
    ],
    others: {
      '@identify': event(undefined, [
        ...fullName('user.name'),
        from(source.EMAIL, 'user.email', [PLAIN_EMAIL]),
        from('user_id', 'user.external_id'),
        from(source.PHONE, 'user.phone', ['trim'], { when: PHONE_IS_READABLE }),
        set('user.skip_verify_email', true),
      ]),
    },
  }),
});
