/** https://support.cordial.com/hc/en-us/articles/203885968-Contactactivities and the vendor's Swagger document of v2 (contacts). */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, select } from '../shared/fields.ts';
import { DISABLED, event, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

const ANSWERS: AnswerRule[] = [
  // Cordial names the fields that it does not accept in messages, everything else in message.
  { status: [400, 422], when: { field: 'body.messages', op: 'exists' }, verdict: 'refused', reason: 'body.messages' },
  { status: [400, 401, 403, 404, 422], verdict: 'refused', reason: 'body.message' },
  RETRY_TIMEOUT,
];
/** Actions that Cordial records itself. It refuses them through the API. */
const RESERVED = ['message-sent', 'open', 'click', 'optout', 'bounce', 'complaint', 'pageview', 'message-stopped'];
const post = (name: string, path: string): RequestDefinition => ({
  name,
  when: { field: `payload.${name}`, op: 'exists' },
  method: 'POST',
  url: `https://{{parameters.region}}/v2/${path}`,
  auth: { kind: 'basic', username: '{{parameters.api_key}}', password: '' },
  items: name,
  body: { kind: 'json' },
  answers: ANSWERS,
});

export default defineVendor({
  key: 'cordial',
  name: 'Cordial',
  description: 'Contact activities and contacts into Cordial.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://support.cordial.com/hc/en-us/articles/203885968-Contactactivities',
  api_version: { version: 'v2', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Cordial open Administration, API keys, create a key, and add the addresses of this service to its allowed IPs.',
    'Choose the host: api.usw2.cordial.io if your admin panel is at usw2.admin.cordial.io, otherwise api.cordial.io.',
  ],
  see_it: 'Open Contacts, look the contact up, and open Activities.',
  notes: [
    'Contacts are identified by their e-mail address. The subscription of a contact is never changed.',
    'Names of actions are cut to 40 characters. Events with a name that Cordial reserves, such as click or open, are dropped.',
    'An identify creates the contact. Attributes must exist in Cordial; map traits to contact.<key of the attribute>.',
    'Cordial removes properties whose names are numbers or have a dot. Page views and groups are not sent.',
  ],
  config_fields: [
    secret('api_key', 'API key', '0123456789abcdef01234567-abcdefghijklmnopqrstuvwx', 'Administration, API keys.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    select('region', 'Host', ['api.cordial.io', 'api.usw2.cordial.io'], 'The API host of the account.'),
  ],
  requests: [
    post('contact', 'contacts'),
    { ...post('activity', 'contactactivities'), when: { field: 'event.type', op: 'eq', value: 'track' } },
  ],
  event_name: { target: 'activity.a', max_length: 40, reserved: RESERVED },
  require_one_of: [['activity.email']],
  default_action: 'drop',
  rate: { rps: 20 },
  variants: blueprints({
    names: 'keep',
    global: [
      from(source.EMAIL, 'activity.email', [PLAIN_EMAIL]),
      from('event_id', 'activity.UID'),
      from('timestamp', 'activity.ats'),
      from('properties', 'activity.properties'),
    ],
    lines: {},
    others: {
      '@page': DISABLED,
      '@group': DISABLED,
      '@identify': event(undefined, [from(source.EMAIL, 'contact.channels.email.address', [PLAIN_EMAIL])]),
    },
  }),
});
