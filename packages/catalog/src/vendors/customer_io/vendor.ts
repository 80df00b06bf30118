/** https://docs.customer.io/integrations/api/cdp/ */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { secret, select } from '../shared/fields.ts';
import { SPEC_CALL_READABLE, SPEC_EVENT_NAME, specVariants } from '../shared/segment-spec.ts';

const post = (call: 'alias' | 'batch'): Pick<RequestDefinition, 'method' | 'url' | 'headers' | 'auth' | 'answers'> => ({
  method: 'POST',
  url: `https://{{parameters.region}}/v1/${call}`,
  headers: { 'X-Strict-Mode': '1' },
  auth: { kind: 'basic', username: '{{parameters.api_key}}', password: '' },
  answers: [{ status: [400, 413], verdict: 'refused', isolate: true }, RETRY_TIMEOUT],
});

export default defineVendor({
  key: 'customer_io',
  name: 'Customer.io',
  description: 'People, events and groups into Customer.io through the Pipelines API.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://docs.customer.io/integrations/api/cdp/',
  api_version: { version: 'Pipelines v1', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Customer.io open Integrations, Add integration, and choose Customer.io API.',
    'Copy the API key of the integration. The keys of the Track API and of the App API do not work here.',
    'Choose the region of the account.',
  ],
  see_it: 'Open the person: the event shows in the activity.',
  notes: [
    'Requests carry X-Strict-Mode, because Customer.io otherwise answers 200 also for events that it rejects.',
    'The context (IP address, page, device) is not sent: Customer.io reads one context for a whole batch.',
    'The published limits differ: 500 KB and 32 KB for each call on one page, 1 MB and 64 KB on another. The smaller ones apply here.',
  ],
  config_fields: [
    secret('api_key', 'Pipelines API key', '0123456789abcdef:0123456789abcdef', 'Integrations, Customer.io API, Settings, API key.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    select(
      'region',
      'Region',
      ['cdp.customer.io', 'cdp-eu.customer.io'],
      'Settings, Account settings, Privacy and data: cdp.customer.io for the US, cdp-eu.customer.io for the EU.',
    ),
  ],
  requests: [
    // A batch holds every call but alias.
    {
      name: 'alias',
      when: { field: 'payload.type', op: 'eq', value: 'alias' },
      ...post('alias'),
      shape: Object.fromEntries(['userId', 'previousId', 'messageId', 'timestamp'].map((key) => [key, { $ref: `payload.${key}` }])),
      body: { kind: 'json' },
    },
    {
      name: 'batch',
      ...post('batch'),
      body: { kind: 'json_list', under: 'batch' },
      batch: { max_items: 500, max_bytes: 480_000, interval_ms: 1_000 },
    },
  ],
  event_name: SPEC_EVENT_NAME,
  require_one_of: [['userId', 'anonymousId', 'previousId']],
  default_action: 'drop',
  rate: { rps: 100 },
  variants: specVariants(SPEC_CALL_READABLE),
});
