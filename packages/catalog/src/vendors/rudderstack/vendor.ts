/** https://www.rudderstack.com/docs/api/http-api/; answers: rudder-server, gateway/response/response.go. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { secret, text } from '../shared/fields.ts';
import { SPEC_CALL, SPEC_CONTEXT, SPEC_EVENT_NAME, specVariants } from '../shared/segment-spec.ts';

export default defineVendor({
  key: 'rudderstack',
  name: 'RudderStack',
  description: 'Every call into a RudderStack source through the HTTP API of its data plane.',
  category: 'cdp',
  group: 'cdp',
  status: 'ga',
  website: 'https://www.rudderstack.com/docs/api/http-api/',
  api_version: { version: 'v1', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In RudderStack add a source of the type HTTP and copy its write key from Settings.',
    'Copy the data plane URL from Connections.',
  ],
  see_it: 'Open the source, Live events.',
  notes: [
    'RudderStack accepts a request as a whole or not at all; after a rejection each event is sent alone.',
    'An event over 32 KB or a request over 4 MB is rejected.',
  ],
  config_fields: [
    text(
      'data_plane_url',
      'Data plane URL',
      'https://hosted.rudderlabs.com',
      'Connections, at the top of the page. Without a slash at the end.',
      { format: 'url', pattern: '[^/]$', pattern_hint: 'without a slash at the end' },
    ),
    secret('write_key', 'Write key', '2bLmEqX6yU3vXyzW9Qr5TnKpAbc', 'Connections, your HTTP source, Settings.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
  ],
  request: {
    method: 'POST',
    url: '{{parameters.data_plane_url}}/v1/batch',
    auth: { kind: 'basic', username: '{{parameters.write_key}}', password: '' },
    body: { kind: 'json_list', under: 'batch' },
    batch: { max_items: 1_000, max_bytes: 3_900_000, interval_ms: 1_000 },
    answers: [{ status: [400, 413], verdict: 'refused', isolate: true }, RETRY_TIMEOUT],
  },
  event_name: SPEC_EVENT_NAME,
  require_one_of: [['userId', 'anonymousId']],
  default_action: 'drop',
  rate: { rps: 100 },
  variants: specVariants([...SPEC_CALL, ...SPEC_CONTEXT]),
});
