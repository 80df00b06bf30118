/**
 * https://help.ortto.com/a-271-create-a-custom-activity-event-create, /a-257-create-or-update-one-or-more-people-merge and
 * /a-235-rate-limits. Ortto recommends `async` for people that are merged by a field: synchronous ones run into a limit.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { secret, select } from '../shared/fields.ts';
import { DISABLED, event, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { STANDARD_EVENTS, type StandardEvent } from '../shared/standard-events.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

/** The id of a custom activity: `act:cm:` and its name with dashes. */
const IDS = Object.fromEntries(
  Object.keys(STANDARD_EVENTS).map((name) => [name, `act:cm:${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`]),
) as Record<StandardEvent, string>;
const PERSON = [
  from(source.EMAIL, 'fields["str::email"]', [PLAIN_EMAIL]),
  from(source.FIRST_NAME, 'fields["str::first"]', ['trim']),
  from(source.LAST_NAME, 'fields["str::last"]', ['trim']),
];
const post = (path: string, under: string, common: object): Omit<RequestDefinition, 'when'> => ({
  name: under,
  method: 'POST',
  url: `https://{{parameters.region}}/v1/${path}`,
  auth: { kind: 'header', name: 'X-Api-Key', value: '{{parameters.api_key}}' },
  body: { kind: 'json_list', under, common: common as never },
  batch: { max_items: 100, max_bytes: 1_500_000, interval_ms: 1_000 },
  answers: [
    { status: [429], verdict: 'unavailable', retry_after: { path: 'body.error.try-in-seconds' } },
    { status: [400, 413], verdict: 'refused', isolate: true },
    RETRY_TIMEOUT,
  ],
});

export default defineVendor({
  key: 'ortto',
  name: 'Ortto',
  description: 'Custom activities and people into Ortto.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://help.ortto.com/a-271-create-a-custom-activity-event-create',
  api_version: { version: 'v1', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Ortto open Data sources, New data source, Custom API (advanced), and copy the private API key.',
    'Define an activity for each event (CDP, Activities); its id is act:cm: and the name with dashes, such as act:cm:order-completed.',
  ],
  see_it: 'Open the person: the activity shows in the feed.',
  notes: [
    'People are matched by e-mail address. Ortto subscribes a new person to e-mail unless fields["bol::p"] is false; map your opt-in to it.',
    'Attributes of an activity carry their type in the name (str:cm:plan, int:cm:seats), so none are sent by default; map them to attributes["str:cm:plan"]. Ortto reads int values as thousandths.',
    'Ortto accepts 50 activities of one kind for a person in a day, and bans an address for 15 seconds after 15 bad requests.',
    'The time of an event is not sent. Page views and groups are not sent.',
  ],
  config_fields: [
    secret('api_key', 'API key', 'PRIVATE-0123456789abcdefghijklmnop', 'Data sources, the custom API that you created.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    select(
      'region',
      'Region',
      ['api.ap3api.com', 'api.au.ap3api.com', 'api.eu.ap3api.com'],
      'api.au.ap3api.com for Australia, api.eu.ap3api.com for Europe.',
    ),
  ],
  requests: [
    {
      ...post('person/merge', 'people', { async: true, merge_by: ['str::email'], merge_strategy: 2 }),
      when: { field: 'event.type', op: 'eq', value: 'identify' },
    },
    post('activities/create', 'activities', { merge_by: ['str::email'] }),
  ],
  event_name: { target: 'activity_id', only_with: 'attributes' },
  require_one_of: [['fields["str::email"]']],
  default_action: 'drop',
  rate: { rps: 10 },
  variants: blueprints({
    names: IDS,
    global: [...PERSON, { value: {}, target: 'attributes', when: { field: 'type', op: 'eq', value: 'track' } }],
    lines: {},
    others: {
      '@page': DISABLED,
      '@group': DISABLED,
      '@identify': event(undefined, []),
    },
    defaults: { action: 'drop' },
  }),
});
