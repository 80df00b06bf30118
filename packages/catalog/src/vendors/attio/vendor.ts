/** https://docs.attio.com/rest-api/endpoint-reference/records/assert-a-record and /notes/create-a-note */
import type { ChainStep } from '@firsthand/core/vendor/chain.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { crmVariants } from '../shared/blueprints.ts';
import { secret } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import { template } from '../shared/messages.ts';
import * as source from '../shared/sources.ts';
import { BOTH_NAMES, PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const auth: ChainStep['auth'] = { kind: 'bearer', token: '{{parameters.api_key}}' };
const ANSWERS: AnswerRule[] = [RETRY_TIMEOUT];
const assert = (name: string, object: string, attribute: string): ChainStep => ({
  name,
  when: { field: `payload.${name}`, op: 'exists' },
  method: 'PUT',
  url: `https://api.attio.com/v2/objects/${object}/records`,
  query: { matching_attribute: attribute },
  auth,
  items: name,
  shape: { data: { values: { $ref: 'payload' } } },
  body: { kind: 'json' },
  answers: ANSWERS,
  keep: { id: 'body.data.id.record_id' },
});
/** All three parts of a name must be set (docs.attio.com/docs/attribute-types/attribute-types-personal-name). */
const NAMED = { any: [...source.FIRST_NAME, ...source.LAST_NAME].map((field) => ({ field, op: 'matches', value: '\\S' })) };
const EMAIL = from(source.EMAIL, 'person.email_addresses[0]', [PLAIN_EMAIL], { required: true });

export default defineVendor({
  key: 'attio',
  name: 'Attio',
  description: 'People and companies in Attio, and notes about what they did.',
  category: 'other',
  group: 'crm_and_support',
  status: 'ga',
  website: 'https://docs.attio.com/rest-api/endpoint-reference/records/assert-a-record',
  api_version: { version: 'v2', checked: '2026-11-16' },
  setup_steps: [
    'In Attio open Workspace settings, Developers, Create a new integration, and generate an access token.',
    'Give it the scopes record_permission:read-write, object_configuration:read and note:read-write.',
  ],
  see_it: 'Open the person’s record: attributes and notes have changed.',
  notes: [
    'People are matched by their e-mail address, companies by their domain (traits.domain or the host of traits.website).',
    'An event is a note on the person; a retry after a timeout can write it twice.',
    'An identify replaces the name and the telephone numbers of the person.',
    'Attio accepts 25 writes a second.',
    'Telephone numbers are sent with their country code (E.164). Attio rejects others.',
  ],
  config_fields: [
    secret(
      'api_key',
      'Access token',
      '0123456789abcdef0123456789abcdef0123456789abcdef',
      'Workspace settings, Developers, your integration.',
      { pattern: '^\\S+$', pattern_hint: 'without spaces' },
    ),
  ],
  chain: [
    assert('person', 'people', 'email_addresses'),
    assert('company', 'companies', 'domains'),
    {
      name: 'note',
      when: {
        all: [
          { field: 'payload.note', op: 'exists' },
          { field: 'steps.person.id', op: 'exists' },
        ],
      },
      method: 'POST',
      url: 'https://api.attio.com/v2/notes',
      auth,
      items: 'note',
      shape: {
        data: {
          parent_object: 'people',
          parent_record_id: '{{steps.person.id}}',
          title: '{{payload.title}}',
          format: 'plaintext',
          content: '{{payload.content}}',
        },
      },
      body: { kind: 'json' },
      answers: ANSWERS,
    },
  ],
  event_name: { target: 'note.title', only_with: 'note' },
  require_one_of: [['person.email_addresses', 'company.domains']],
  default_action: 'drop',
  rate: { rps: 20 },
  concurrency: 4,
  variants: crmVariants({
    global: [],
    lines: [EMAIL, from('properties', 'note.content', ['json_stringify'], { default: '{}' })],
    others: {
      '@identify': event(undefined, [
        EMAIL,
        from(source.FIRST_NAME, 'person.name[0].first_name', ['trim'], { default: '', when: NAMED }),
        from(source.LAST_NAME, 'person.name[0].last_name', ['trim'], { default: '', when: NAMED }),
        from([...source.FIRST_NAME, ...source.LAST_NAME], 'person.name[0].full_name', ['trim']),
        template(BOTH_NAMES, 'person.name[0].full_name', ['trim']),
        from(source.PHONE, 'person.phone_numbers[0]', [PLAIN_PHONE]),
      ]),
      '@group': event(undefined, [
        from('traits.website', 'company.domains[0]', ['url_host']),
        from('traits.domain', 'company.domains[0]', ['to_string']),
        from('traits.name', 'company.name', ['to_string']),
      ]),
    },
  }),
});
