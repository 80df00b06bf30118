/** https://discord.com/developers/docs/resources/webhook#execute-webhook */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { optionalText, secret, text } from '../shared/fields.ts';
import { set, use } from '../shared/mapping.ts';
import { messageVariants, template } from '../shared/messages.ts';

export default defineVendor({
  key: 'discord',
  name: 'Discord',
  description: 'A message in a Discord channel for orders, sign-ups, leads and what else you choose.',
  category: 'other',
  group: 'notification',
  status: 'ga',
  website: 'https://discord.com/developers/docs/resources/webhook',
  api_version: { version: 'v10', checked: '2026-11-16' },
  setup_steps: [
    'In Discord open the channel’s settings, Integrations, Webhooks, New webhook, and copy its URL.',
    'The URL ends in /webhooks/<id>/<token>: enter the two parts.',
  ],
  see_it: 'Open the channel: the message shows at once.',
  notes: ['Messages mention nobody: allowed_mentions is empty.', 'A retry after a timeout can repeat a message.'],
  config_fields: [
    text('webhook_id', 'Webhook ID', '223704706495545344', 'The number in the webhook URL, after /webhooks/.', {
      pattern: '^\\d{15,25}$',
      pattern_hint: 'the digits after /webhooks/ in the URL',
    }),
    secret(
      'webhook_token',
      'Webhook token',
      '3d89bb7572e0fb30d8128367b3b1b44fecd1726de135cbe28a41f8b2f777c372',
      'The last part of the webhook URL.',
      { pattern: '^[^/\\s]+$', pattern_hint: 'the last part of the URL, without slashes' },
    ),
    optionalText(
      'thread_id',
      'Thread ID',
      '199737254929760256',
      'Posts into this thread of the channel. Copy it with Developer mode switched on.',
      { pattern: '^\\d{15,25}$', pattern_hint: 'digits only' },
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://discord.com/api/v10/webhooks/{{parameters.webhook_id}}/{{parameters.webhook_token}}',
    // With wait Discord reports a message that it does not save.
    query: { wait: 'true', thread_id: '{{parameters.thread_id}}' },
    body: { kind: 'json' },
    answers: [{ status: [429], verdict: 'unavailable', reason: 'body.message', retry_after: { path: 'body.retry_after' } }, RETRY_TIMEOUT],
  },
  require_one_of: [['content']],
  default_action: 'drop',
  rate: { rps: 2, burst: 5 },
  concurrency: 1,
  variants: messageVariants((text) => [template(text, 'content', [use('truncate', 2_000)])], [set('allowed_mentions', { parse: [] })]),
});
