/** https://developers.pipedrive.com/docs/api/v1/Persons (v2) and /Notes (v1); bodies from Pipedrive's client (pipedrive/client-nodejs), read on 2026-11-16. */
import type { ChainStep } from '@firsthand/core/vendor/chain.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { crmVariants } from '../shared/blueprints.ts';
import { secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import { template } from '../shared/messages.ts';
import * as source from '../shared/sources.ts';
import { fullName, PHONE_IS_READABLE, PLAIN_EMAIL } from '../shared/user-data.ts';

const ANSWERS: AnswerRule[] = [
  { status: [429], verdict: 'unavailable', reason: 'body.error', retry_after: { header: 'x-ratelimit-reset' } },
  RETRY_TIMEOUT,
];
const step = (name: string, method: string, path: string, rest: Partial<ChainStep>): ChainStep => ({
  name,
  method,
  url: `https://{{parameters.company_domain}}.pipedrive.com/${path}`,
  auth: { kind: 'header', name: 'x-api-token', value: '{{parameters.api_token}}' },
  body: { kind: 'json' },
  answers: ANSWERS,
  ...rest,
});
/** The content of a note is HTML, which Pipedrive cleans: unescaped text would lose what looks like a tag. */
const HTML = [use('replace', '&', '&amp;'), use('replace', '<', '&lt;'), use('replace', '>', '&gt;')];
const has = (field: string) => ({ field, op: 'exists' }) as const;
const lacks = (field: string) => ({ field, op: 'not_exists' }) as const;
const note = (name: string, known: 'find' | 'create'): ChainStep =>
  step(name, 'POST', 'v1/notes', {
    when: { all: [has('payload.note'), has(`steps.${known}.id`)] },
    shape: { content: '{{payload.note}}', person_id: { $ref: `steps.${known}.id` } },
  });
const PERSON = [
  from(source.EMAIL, 'email', [PLAIN_EMAIL], { required: true }),
  from(source.EMAIL, 'person.name', [PLAIN_EMAIL]),
  ...fullName('person.name'),
  from(source.EMAIL, 'person.emails[0].value', [PLAIN_EMAIL]),
  set('person.emails[0].primary', true),
  set('person.emails[0].label', 'work'),
];

export default defineVendor({
  key: 'pipedrive',
  name: 'Pipedrive',
  description: 'Persons in Pipedrive, and notes about what they did.',
  category: 'other',
  group: 'crm_and_support',
  status: 'ga',
  website: 'https://developers.pipedrive.com/docs/api/v1/Persons',
  api_version: { version: 'v2 persons, v1 notes', checked: '2026-11-16' },
  setup_steps: [
    'In Pipedrive open Personal preferences, API, and copy your personal API token.',
    'Note the domain of the company, the part of the address before .pipedrive.com.',
  ],
  see_it: 'Open the person: the activity or note shows in its history.',
  notes: [
    'Persons are looked up by e-mail address, and created if there is none; an identify updates them.',
    'An event is a note on the person. Custom fields have names of 40 characters; map traits to person.custom_fields.<name>.',
    'The search of Pipedrive lags: two events of a new person within seconds can create it twice.',
    'Every request costs tokens of a daily budget.',
  ],
  config_fields: [
    text('company_domain', 'Company domain', 'acme', 'The part of the address before .pipedrive.com.', {
      pattern: '^[a-z0-9-]+$',
      pattern_hint: 'the part before .pipedrive.com',
    }),
    secret('api_token', 'API token', '0123456789abcdef0123456789abcdef01234567', 'Personal preferences, API.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
  ],
  chain: [
    step('find', 'GET', 'api/v2/persons/search', {
      query: { term: '{{payload.email}}', fields: 'email', exact_match: 'true' },
      body: { kind: 'none' },
      keep: { id: 'body.data.items[0].item.id' },
      remember: { key: '{{payload.email}}', for_ms: 3_600_000 },
    }),
    step('create', 'POST', 'api/v2/persons', { when: lacks('steps.find.id'), items: 'person', keep: { id: 'body.data.id' } }),
    step('update', 'PATCH', 'api/v2/persons/{{steps.find.id}}', {
      when: { all: [has('steps.find.id'), has('payload.changes')] },
      items: 'changes',
    }),
    note('note', 'find'),
    note('note_on_new', 'create'),
  ],
  default_action: 'drop',
  rate: { rps: 5 },
  concurrency: 2,
  variants: crmVariants({
    global: PERSON,
    lines: [template('{{event}} {{json properties}}', 'note', HTML)],
    others: {
      // An update replaces whole lists, and the address stands in for the name of new persons only.
      '@identify': event(undefined, [
        ...fullName('changes.name'),
        ...['person', 'changes'].flatMap((at) => [
          from(source.PHONE, `${at}.phones[0].value`, ['trim'], { when: PHONE_IS_READABLE }),
          set(`${at}.phones[0].label`, 'work', { when: { all: [{ any: source.PHONE.map(has) }, PHONE_IS_READABLE] } }),
        ]),
      ]),
    },
  }),
});
