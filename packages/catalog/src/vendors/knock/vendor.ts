/** https://docs.knock.app/api-reference/workflows/trigger, /users/update, /tenants/set */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { eventTable, secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { fullName, PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const auth: RequestDefinition['auth'] = { kind: 'bearer', token: '{{parameters.api_key}}' };
const ANSWERS: AnswerRule[] = [RETRY_TIMEOUT];
const person = (at: string) => [
  from(source.EMAIL, `${at}.email`, [PLAIN_EMAIL]),
  from(source.PHONE, `${at}.phone_number`, [PLAIN_PHONE]),
  ...fullName(`${at}.name`),
];

export default defineVendor({
  key: 'knock',
  name: 'Knock',
  description: 'Triggers workflows in Knock, and keeps its users and tenants.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://docs.knock.app/api-reference/workflows/trigger',
  api_version: { version: 'v1', checked: '2026-11-16' },
  default_consent_category: 'functional',
  setup_steps: [
    'In Knock open Developers, API keys, and copy the secret key of the environment. The key of the development environment is the test mode.',
    'Create a workflow for each event, and enter its key in the table below.',
  ],
  see_it: 'Open the environment’s Logs, Workflow runs: the run shows with its messages.',
  notes: [
    'Only events with a row in the table of workflows are sent; the user of the event is the recipient.',
    'The event id is the idempotency key, so a repeated request starts a workflow once.',
    'A group is a tenant, and the tenant of the workflows of its users.',
  ],
  config_fields: [
    secret('api_key', 'Secret API key', 'sk_test_0123456789abcdefghijklmnopqrstuvwxyz', 'Developers, API keys, Secret key.', {
      pattern: '^(?!pk_)\\S+$',
      pattern_hint: 'the secret key (sk_…), not the public key',
    }),
    eventTable(
      'workflows',
      'Workflows',
      text('workflow_key', 'Workflow key', 'order-completed', 'Of the workflow that the event triggers.', {
        pattern: '^[A-Za-z0-9_-]+$',
        pattern_hint: 'letters, digits, dashes and underscores',
      }),
      'Workflows, your workflow, Key.',
      { required: false },
    ),
  ],
  requests: [
    {
      name: 'trigger',
      when: { field: 'payload.workflow', op: 'exists' },
      method: 'POST',
      url: 'https://api.knock.app/v1/workflows/{{lane.workflow}}/trigger',
      headers: { 'Idempotency-Key': '{{lane.id}}' },
      auth,
      lane: ['workflow', 'id'],
      items: 'trigger',
      body: { kind: 'json' },
      answers: ANSWERS,
    },
    {
      name: 'user',
      method: 'PUT',
      url: 'https://api.knock.app/v1/users/{{event.user_id}}',
      auth,
      items: 'user',
      body: { kind: 'json' },
      answers: ANSWERS,
    },
    {
      name: 'tenant',
      method: 'PUT',
      url: 'https://api.knock.app/v1/tenants/{{event.group_id}}',
      auth,
      items: 'tenant',
      body: { kind: 'json' },
      answers: ANSWERS,
    },
  ],
  send: 'all',
  event_table: { field: 'workflows', event: 'event', vendor_event_name: 'workflow_key' },
  event_name: { target: 'workflow', only_with: 'trigger' },
  require_one_of: [['trigger.recipients[0].id', 'user', 'tenant']],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: {},
    global: [
      from('event_id', 'id', [use('truncate', 255)]),
      from('user_id', 'trigger.recipients[0].id', [], { when: { field: 'type', op: 'in', value: ['track', 'page'] } }),
      from(source.EMAIL, 'trigger.recipients[0].email', [PLAIN_EMAIL], {
        when: { field: 'type', op: 'in', value: ['track', 'page'] },
      }),
      from('properties', 'trigger.data', [], { when: { field: 'type', op: 'in', value: ['track', 'page'] } }),
      from('context.group_id', 'trigger.tenant', [], { when: { field: 'type', op: 'in', value: ['track', 'page'] } }),
    ],
    lines: {},
    others: {
      '@identify': event(undefined, [
        from('user_id', 'user_id', [], { required: true }),
        ...person('user'),
        from('context.timezone', 'user.timezone'),
        from('context.locale', 'user.locale'),
      ]),
      '@group': event(undefined, [set('tenant', {}), from('traits.name', 'tenant.name', ['to_string'])]),
    },
  }),
});
