/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { secret } from '../shared/fields.ts';
import { use } from '../shared/mapping.ts';
import { messageVariants, template } from '../shared/messages.ts';

/** Slack's three control characters. An event must not write a mention such as <!channel>. */
const ESCAPED = [use('replace', '&', '&amp;'), use('replace', '<', '&lt;'), use('replace', '>', '&gt;'), use('truncate', 4_000)];

export default defineVendor({
  key: 'slack',
  name: 'Slack',
  description: 'A message in a Slack channel for orders, sign-ups, leads and what else you choose.',
  category: 'other',
  group: 'notification',
  status: 'ga',
  website: 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
  api_version: { version: 'incoming webhooks', checked: '2026-11-16' },
  setup_steps: [
    'At api.slack.com/apps create an app for your workspace, and switch Incoming webhooks on.',
    'Add a new webhook to the workspace, choose the channel, and copy the URL.',
  ],
  see_it: 'Open the channel: the message shows at once.',
  notes: [
    'Slack accepts about one message a second for each webhook; more messages wait.',
    'Channel, name and icon belong to the webhook and cannot be chosen by a message.',
    'A retry after a timeout can repeat a message.',
  ],
  config_fields: [
    secret(
      'webhook_path',
      'Webhook',
      'T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
      'The part of the webhook URL after https://hooks.slack.com/services/ (your app, Incoming webhooks).',
      { pattern: '^(?!https?:|/)\\S+$', pattern_hint: 'the part of the URL after https://hooks.slack.com/services/' },
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://hooks.slack.com/services/{{parameters.webhook_path | path}}',
    body: { kind: 'json' },
    answers: [RETRY_TIMEOUT],
  },
  require_one_of: [['text']],
  default_action: 'drop',
  rate: { rps: 1, burst: 3 },
  concurrency: 1,
  variants: messageVariants((text) => [template(text, 'text', ESCAPED)]),
});
