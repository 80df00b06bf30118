/** https://core.telegram.org/bots/api#sendmessage */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { secret, text } from '../shared/fields.ts';
import { from, set, use } from '../shared/mapping.ts';
import { messageVariants, template } from '../shared/messages.ts';

export default defineVendor({
  key: 'telegram',
  name: 'Telegram',
  description: 'A message of your bot in a Telegram chat for orders, sign-ups, leads and what else you choose.',
  category: 'other',
  group: 'notification',
  status: 'ga',
  website: 'https://core.telegram.org/bots/api#sendmessage',
  api_version: { version: 'Bot API', checked: '2026-11-16' },
  setup_steps: [
    'In Telegram write to @BotFather, create a bot with /newbot, and copy its token.',
    'Add the bot to the group or channel, or write to it first, and note the id of the chat.',
  ],
  see_it: 'Open the chat: the message shows at once.',
  notes: [
    'Texts are sent as they are, without formatting; links get no preview.',
    'A bot may send about one message a second to a chat, and 20 a minute to a group; more messages wait.',
    'A group that became a supergroup has a new id (migrate_to_chat_id): enter it.',
    'A retry after a timeout can repeat a message.',
  ],
  config_fields: [
    text('bot_id', 'Bot ID', '123456789', 'The digits of the token before the colon.', {
      pattern: '^\\d{5,15}$',
      pattern_hint: 'the digits before the colon',
    }),
    secret('bot_secret', 'Bot secret', 'AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', 'The part of the token after the colon.', {
      pattern: '^[^:/\\s]+$',
      pattern_hint: 'the part of the token after the colon',
    }),
    text(
      'chat_id',
      'Chat ID',
      '-1001234567890',
      'The number of the chat (groups and channels start with a minus), or @name of a public channel.',
      { pattern: '^(-?\\d+|@\\w+)$', pattern_hint: 'a number, or @name' },
    ),
    {
      key: 'thread_id',
      label: 'Topic ID',
      type: 'number',
      required: false,
      placeholder: '7',
      help_text: 'Only for groups with topics: the number of the topic.',
      integer: true,
      min: 1,
    },
  ],
  request: {
    method: 'POST',
    url: 'https://api.telegram.org/bot{{parameters.bot_id}}:{{parameters.bot_secret}}/sendMessage',
    body: { kind: 'json' },
    answers: [
      { status: [429], verdict: 'unavailable', reason: 'body.description', retry_after: { path: 'body.parameters.retry_after' } },
      { status: [400, 401, 403, 404], verdict: 'refused', reason: 'body.description' },
      RETRY_TIMEOUT,
    ],
  },
  require_one_of: [['text']],
  default_action: 'drop',
  rate: { rps: 0.33, burst: 3 },
  concurrency: 1,
  variants: messageVariants(
    (text) => [template(text, 'text', [use('truncate', 4_096)])],
    [
      from('parameters.chat_id', 'chat_id'),
      from('parameters.thread_id', 'message_thread_id'),
      set('link_preview_options.is_disabled', true),
    ],
  ),
});
