import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalText, select, text } from '../shared/fields.ts';

export default defineVendor({
  key: 'custom_http',
  name: 'Custom HTTP API',
  description:
    'Any HTTP API, described in the config with the same words as a catalog vendor: requests per event, authentication, body, batching, answer rules.',
  category: 'other',
  group: 'custom',
  status: 'ga',
  website: 'https://www.rfc-editor.org/rfc/rfc9110',
  setup_steps: [
    "Read the API's documentation: URL, authentication, body and error answers.",
    'Enter the URL, or write `request` in the config. Test it with the preview, then with a delivery test.',
  ],
  see_it: 'Look for the event in the API that you call; GET /events/{messageId} shows the request and the answer.',
  config_fields: [
    text(
      'url',
      'URL',
      'https://api.example.com/v1/events',
      'Where requests go; `request.url` and `requests[].url` win. May refer to {{parameters.NAME}} and {{event.PATH}}.',
    ),
    select('method', 'Method', ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'], 'HTTP method of the request.'),
    optionalText('headers', 'Headers', '{"X-Team": "growth"}', 'Headers of every request, an object of names and values.', {
      format: 'headers',
    }),
  ],
  requests: [],
  authored_requests: true,
  default_action: 'pass_through',
  client_side: true,
  rate: { rps: 50, burst: 100 },
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Every event as JSON to one URL.',
      default_config: { version: 2, method: 'POST', defaults: { action: 'pass_through' } },
    },
  ],
});
