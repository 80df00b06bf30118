/** https://launchdarkly.com/docs/home/metrics/import-events */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { secret, select, text } from '../shared/fields.ts';
import { DISABLED, event, from, set } from '../shared/mapping.ts';

export default defineVendor({
  key: 'launchdarkly',
  name: 'LaunchDarkly',
  description: 'Metric events into LaunchDarkly, for experiments.',
  category: 'other',
  group: 'personalisation_and_testing',
  status: 'ga',
  website: 'https://launchdarkly.com/docs/home/metrics/import-events',
  api_version: { version: 'event-data-import v2, schema 4', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In LaunchDarkly open Organization settings, Authorization, Create token, with a role that allows importEventData.',
    'Note the keys of the project and of the environment.',
    'Create a metric for every event key that you want to measure.',
  ],
  see_it: 'Open Data, Event explorer, for the project and environment: the event key is in the list.',
  notes: [
    'The user id is the key of the context kind user. For another randomisation unit map contextKeys in the mapping.',
    'A repeated request keeps its payload id, so LaunchDarkly counts it once.',
    'Visitors without a user id are dropped. Identify and group calls are not sent.',
  ],
  config_fields: [
    secret(
      'access_token',
      'Access token',
      'api-0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11',
      'Organization settings, Authorization, Access tokens.',
      { pattern: '^(?!sdk-)\\S+$', pattern_hint: 'an access token (api-…), not an SDK key' },
    ),
    text('project_key', 'Project key', 'default', 'Project settings.', {
      pattern: '^[A-Za-z0-9._-]+$',
      pattern_hint: 'letters, digits, periods, underscores and dashes',
    }),
    text('environment_key', 'Environment key', 'production', 'Project settings, Environments.', {
      pattern: '^[A-Za-z0-9._-]+$',
      pattern_hint: 'letters, digits, periods, underscores and dashes',
    }),
    select(
      'region',
      'Instance',
      ['events.launchdarkly.com', 'events.eu.launchdarkly.com', 'events.launchdarkly.us'],
      'events.launchdarkly.com, events.eu.launchdarkly.com for the EU instance, events.launchdarkly.us for the federal one.',
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.region}}/v2/event-data-import/{{parameters.project_key}}/{{parameters.environment_key}}',
    headers: {
      Authorization: '{{parameters.access_token}}',
      'X-LaunchDarkly-Event-Schema': '4',
      'X-LaunchDarkly-Payload-ID': '{{request.uuid}}',
      // LaunchDarkly requires this form, by which it tells the sources apart.
      'User-Agent': 'MetricImport-Firsthand-int/1',
    },
    body: { kind: 'json_list' },
    batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 1_000 },
    answers: [{ status: [400, 413], verdict: 'refused', reason: 'body.message', isolate: true }, RETRY_TIMEOUT],
  },
  event_name: { target: 'key' },
  require_one_of: [['contextKeys.user']],
  default_action: 'drop',
  rate: { rps: 20 },
  variants: blueprints({
    names: 'keep',
    global: [
      set('kind', 'custom'),
      from('user_id', 'contextKeys.user'),
      from('timestamp', 'creationDate', ['to_unix_millis']),
      from('properties.value', 'metricValue', ['to_number']),
      from('properties', 'data'),
    ],
    lines: { purchase: orderTotal('metricValue'), booking: orderTotal('metricValue'), subscription: orderTotal('metricValue') },
    others: {
      '@page': event('page_view', [from('name', 'data.page_name')]),
      '@screen': event('screen_view', [from('name', 'data.screen_name')]),
      '@identify': DISABLED,
      '@group': DISABLED,
    },
  }),
});
