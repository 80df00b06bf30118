/**
 * https://developers.intercom.com/docs/references/2.15/rest-api/api.intercom.io/ and, for the limits of metadata,
 * https://www.intercom.com/help/en/articles/175-set-up-event-tracking-in-intercom
 */
import type { ChainStep } from '@firsthand/core/vendor/chain.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { crmVariants } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { secret, select } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { fullName, PHONE_IS_READABLE, PLAIN_EMAIL } from '../shared/user-data.ts';

const KNOWN = { field: 'user_id', op: 'exists' };
const ANONYMOUS = { field: 'user_id', op: 'not_exists' };
const has = (path: string) => ({ field: path, op: 'exists' }) as const;
const lacks = (path: string) => ({ field: path, op: 'not_exists' }) as const;
const ANSWERS: AnswerRule[] = [
  { status: [429], verdict: 'unavailable', reason: 'body.errors[0].message' },
  RETRY_TIMEOUT,
  { status: ['4xx'], verdict: 'refused', reason: 'body.errors[0].message' },
];
/** An archived contact keeps its ids, and neither the search nor an update reaches it. */
const ARCHIVED: AnswerRule = {
  status: [409],
  when: { field: 'body.errors[0].message', op: 'contains', value: 'archived' },
  verdict: 'refused',
  reason: 'body.errors[0].message',
};
const CREATED_BY_OTHERS = { field: 'steps.create.status', op: 'eq', value: 409 } as const;
const step = (
  name: string,
  method: string,
  path: string,
  rest: Omit<ChainStep, 'name' | 'method' | 'url' | 'auth' | 'body'>,
): ChainStep => ({
  name,
  method,
  url: `https://{{parameters.region}}/${path}`,
  headers: { 'Intercom-Version': '2.15', Accept: 'application/json' },
  auth: { kind: 'bearer', token: '{{parameters.access_token}}' },
  body: { kind: 'json' },
  answers: ANSWERS,
  ...rest,
});

const SEARCH = [
  set('search.query.field', 'external_id', { when: KNOWN }),
  set('search.query.field', 'email', { when: ANONYMOUS }),
  set('search.query.operator', '='),
  from('user_id', 'search.query.value'),
];
const BY_ADDRESS = (sources: string | string[]) => from(sources, 'search.query.value', [PLAIN_EMAIL], { when: ANONYMOUS, required: true });
const CONTACT = [
  ...SEARCH,
  BY_ADDRESS(source.EMAIL),
  set('contact.role', 'user'),
  from('user_id', 'contact.external_id'),
  from(source.EMAIL, 'contact.email', [PLAIN_EMAIL]),
  from(source.PHONE, 'contact.phone', ['trim'], { when: PHONE_IS_READABLE }),
  ...fullName('contact.name'),
  from('traits.avatar', 'contact.avatar', ['to_string']),
  from(['traits.created_at', 'traits.createdAt'], 'contact.signed_up_at', ['to_iso8601', 'to_unix_seconds']),
  from('timestamp', 'contact.last_seen_at', ['to_unix_seconds']),
];
const COMPANY = [
  ...SEARCH,
  // The address in the traits is that of the company.
  BY_ADDRESS('context.traits.email'),
  from('group_id', 'company.company_id'),
  from('traits.name', 'company.name', ['to_string']),
  from('traits.plan', 'company.plan', ['to_string']),
  from('traits.industry', 'company.industry', ['to_string']),
  from('traits.website', 'company.website', ['to_string']),
  from('traits.employees', 'company.size', ['to_integer']),
  from(['traits.created_at', 'traits.createdAt'], 'company.remote_created_at', ['to_iso8601', 'to_unix_seconds']),
];
/** Names and values only: Intercom rejects nested metadata except amounts of money, in cents. */
const EVENT = [
  from('user_id', 'event.user_id'),
  from(source.EMAIL, 'event.email', [PLAIN_EMAIL], { when: ANONYMOUS }),
  from('timestamp', 'event.created_at', ['to_unix_seconds']),
  from('properties', 'event.metadata'),
  ...orderTotal('event.metadata.price.amount').map((line) => ({
    ...line,
    transforms: [...(line.transforms as []), use('minor_units', { source: 'properties.currency' })] as never,
    when: has('properties.currency'),
  })),
  from('properties.currency', 'event.metadata.price.currency', ['currency_code', 'lowercase'], {
    when: { any: ['properties.products[0]', ...source.VALUE].map(has) },
  }),
];

export default defineVendor({
  key: 'intercom',
  name: 'Intercom',
  description: 'Contacts, companies and events into Intercom.',
  category: 'other',
  group: 'crm_and_support',
  status: 'ga',
  website: 'https://developers.intercom.com/docs/references/2.15/rest-api/api.intercom.io/',
  api_version: { version: '2.15', checked: '2026-11-16' },
  setup_steps: [
    'In Intercom open Settings, Integrations, Developer hub, New app, and copy the access token under Configure, Authentication.',
    'The app needs to read and write users and companies, and to write events.',
    'Choose the region of the workspace.',
  ],
  see_it: 'Open the contact: the event shows under Recent events.',
  notes: [
    'Contacts are looked up by user id, or by address, and then updated or created.',
    'Custom attributes must exist in Intercom before they are mapped.',
    'Intercom rejects the event of a user whom it does not know: send an identify first.',
    'Nested properties are left out of events; an order value is sent as price in cents.',
    'An event has at most 20 metadata values, and texts of 255 characters; longer ones are cut.',
  ],
  config_fields: [
    secret('access_token', 'Access token', 'dG9rOjAxMjM0NTY3ODlhYmNkZWY=', 'Developer hub, your app, Configure, Authentication.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    select(
      'region',
      'Region',
      ['api.intercom.io', 'api.eu.intercom.io', 'api.au.intercom.io'],
      'Settings, Workspace, General, Data hosting: api for the US, api.eu for the EU, api.au for Australia.',
    ),
  ],
  chain: [
    step('find', 'POST', 'contacts/search', {
      when: has('payload.search'),
      items: 'search',
      keep: { id: 'body.data[0].id' },
      remember: { key: '{{payload.search.query.value}}', for_ms: 3_600_000 },
    }),
    step('create', 'POST', 'contacts', {
      when: { all: [has('payload.contact'), lacks('steps.find.id')] },
      items: 'contact',
      answers: [
        ARCHIVED,
        // Somebody created the contact in the meantime, or the search did not know it yet: the next steps update it.
        { status: [409], verdict: 'delivered' },
        ...ANSWERS,
      ],
      keep: { status: 'status' },
    }),
    step('find_created', 'POST', 'contacts/search', {
      when: CREATED_BY_OTHERS,
      items: 'search',
      // Intercom's search lags behind by some seconds.
      answers: [{ status: [200], when: lacks('body.data[0].id'), verdict: 'unavailable' }, ...ANSWERS],
      keep: { id: 'body.data[0].id' },
    }),
    step('update_created', 'PUT', 'contacts/{{steps.find_created.id}}', { when: CREATED_BY_OTHERS, items: 'contact' }),
    step('update', 'PUT', 'contacts/{{steps.find.id}}', {
      when: { all: [has('payload.contact'), has('steps.find.id')] },
      items: 'contact',
    }),
    step('company', 'POST', 'companies', { when: has('payload.company'), items: 'company', keep: { id: 'body.id' } }),
    step('attach', 'POST', 'contacts/{{steps.find.id}}/companies', {
      when: { all: [has('payload.company'), has('steps.find.id'), has('steps.company.id')] },
      shape: { id: '{{steps.company.id}}' },
    }),
    step('event', 'POST', 'events', { when: { field: 'event.type', op: 'in', value: ['track', 'page'] }, items: 'event' }),
  ],
  event_name: { target: 'event.event_name', only_with: 'event.metadata' },
  limits: [{ path: 'event.metadata', max_keys: 20, max_string_length: 255, scalars_only: true, keep: ['price'] }],
  require_one_of: [['event.user_id', 'event.email', 'search.query.value']],
  default_action: 'drop',
  rate: { rps: 100 },
  concurrency: 4,
  variants: crmVariants({
    global: [],
    lines: EVENT,
    others: { '@identify': event(undefined, CONTACT), '@group': event(undefined, COMPANY) },
  }),
});
