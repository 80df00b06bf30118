/** https://segment.com/docs/connections/sources/catalog/libraries/server/http-api/ */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { secret } from '../shared/fields.ts';
import { SPEC_CALL, SPEC_CONTEXT, SPEC_EVENT_NAME, specVariants } from '../shared/segment-spec.ts';

export default defineVendor({
  key: 'segment',
  name: 'Segment',
  description: 'Every call into a Segment source through the HTTP Tracking API.',
  category: 'cdp',
  group: 'cdp',
  status: 'ga',
  website: 'https://segment.com/docs/connections/sources/catalog/libraries/server/http-api/',
  api_version: { version: 'v1', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In Segment open Connections, Sources, Add source, and choose HTTP API.',
    'Copy the write key from Settings, API keys, of the source.',
    "Choose the region of the workspace: Segment answers 200 and loses the events if it is another workspace's region.",
  ],
  see_it: 'Open the source, Debugger: Segment answers 200 also for events that it does not accept.',
  notes: [
    'The event id is the messageId, by which Segment removes duplicates.',
    'Segment rejects a request over 500 KB or with an event over 32 KB; the large event alone is then rejected.',
    'The integrations object of an event is not forwarded.',
  ],
  config_fields: [
    {
      key: 'region',
      label: 'Region',
      type: 'select',
      required: true,
      placeholder: 'api.segment.io',
      help_text: 'Settings, Workspace settings, General: api.segment.io for the US, events.eu1.segmentapis.com for the EU.',
      options: ['api.segment.io', 'events.eu1.segmentapis.com'],
    },
    secret(
      'write_key',
      'Write key',
      'DmBXIN4JnwqBnTqXccTF0wBnLXNQmFtk',
      'Connections, Sources, your HTTP API source, Settings, API keys.',
      { pattern: '^\\S+$', pattern_hint: 'without spaces' },
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.region}}/v1/batch',
    auth: { kind: 'basic', username: '{{parameters.write_key}}', password: '' },
    body: { kind: 'json_list', under: 'batch' },
    batch: { max_items: 1_000, max_bytes: 480_000, interval_ms: 1_000 },
    // 400: malformed JSON, or the request or one event is too large.
    answers: [{ status: [400, 413], verdict: 'refused', isolate: true }, RETRY_TIMEOUT],
  },
  event_name: SPEC_EVENT_NAME,
  require_one_of: [['userId', 'anonymousId']],
  default_action: 'drop',
  rate: { rps: 500 },
  variants: specVariants([...SPEC_CALL, ...SPEC_CONTEXT]),
});
