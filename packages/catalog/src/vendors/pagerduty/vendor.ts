/** https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { secret, select } from '../shared/fields.ts';
import { from, set, use } from '../shared/mapping.ts';
import { messageVariants, template } from '../shared/messages.ts';

export default defineVendor({
  key: 'pagerduty',
  name: 'PagerDuty',
  description: 'Alerts in PagerDuty from the events you choose.',
  category: 'other',
  group: 'notification',
  status: 'ga',
  website: 'https://developer.pagerduty.com/docs/events-api-v2/trigger-events/',
  api_version: { version: 'Events API v2', checked: '2026-11-16' },
  setup_steps: [
    'In PagerDuty open Services, your service, Integrations, Add integration, Events API v2, and copy the integration key.',
    'Remove from the mapping the events that should wake nobody.',
  ],
  see_it: 'Open the service, Activity: the incident shows at once.',
  notes: [
    'The event id is the dedup_key, so a repeated delivery joins the same alert.',
    'Choose another dedup_key in the mapping to join alerts, and the event_action resolve to close them.',
  ],
  config_fields: [
    secret('routing_key', 'Integration key', '0123456789abcdef0123456789abcdef', 'Services, your service, Integrations, Events API v2.', {
      pattern: '^\\S+$',
      pattern_hint: 'the integration key, 32 characters',
    }),
    select(
      'region',
      'Region',
      ['events.pagerduty.com', 'events.eu.pagerduty.com'],
      'events.eu.pagerduty.com for accounts of the EU service region.',
    ),
    {
      key: 'severity',
      label: 'Severity',
      type: 'select',
      required: false,
      placeholder: 'info',
      help_text: 'Of every alert, unless its mapping sets another one.',
      options: ['critical', 'error', 'warning', 'info'],
      default: 'info',
    },
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.region}}/v2/enqueue',
    fill: { routing_key: '{{parameters.routing_key}}' },
    body: { kind: 'json' },
    answers: [RETRY_TIMEOUT],
  },
  require_one_of: [['payload.summary']],
  default_action: 'drop',
  rate: { rps: 2, burst: 10 },
  variants: messageVariants(
    (text) => [template(text, 'payload.summary', [use('truncate', 1_024)])],
    [
      set('event_action', 'trigger'),
      from('event_id', 'dedup_key', [use('truncate', 255)]),
      set('payload.source', 'firsthand'),
      from(['context.page.url'], 'payload.source', ['url_host']),
      from('parameters.severity', 'payload.severity'),
      from('timestamp', 'payload.timestamp'),
      from('event', 'payload.class'),
      from('properties', 'payload.custom_details'),
      set('client', 'Firsthand'),
    ],
  ),
});
