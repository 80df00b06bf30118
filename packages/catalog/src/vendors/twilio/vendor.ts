/** https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { secret, text } from '../shared/fields.ts';
import { from, use } from '../shared/mapping.ts';
import { messageVariants, template } from '../shared/messages.ts';

const SERVICE = { field: 'parameters.sender', op: 'matches', value: '^MG[0-9a-f]{32}$' };
/** https://www.twilio.com/docs/api/errors/21611: ten hours of messages of this sender wait already. */
const QUEUE_FULL: AnswerRule = {
  when: { field: 'body.code', op: 'eq', value: 21611 },
  verdict: 'unavailable',
  reason: 'body.message',
};

export default defineVendor({
  key: 'twilio',
  name: 'Twilio',
  description: 'A text message to a number of yours for orders, sign-ups, leads and what else you choose.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://www.twilio.com/docs/messaging/api/message-resource',
  api_version: { version: '2010-04-01', checked: '2026-11-16' },
  setup_steps: [
    'In the Twilio console open Account, API keys and tokens, Create API key, and copy its SID and secret.',
    'Note the account SID, and the number or the messaging service that sends.',
    'For a test use the test credentials of the account and the sender +15005550006.',
  ],
  see_it: 'Open Monitor, Logs, Messaging: the message shows with the status of its delivery.',
  notes: [
    'One blueprint: every event that is mapped sends a text message, so only a few are.',
    'Messages go to the number in the configuration. To write to your customers, map To to their telephone number; you need their consent.',
    'Twilio has no deduplication: a retry after a timeout can send, and bill, a message twice.',
    'Texts are cut to 1,600 characters.',
  ],
  config_fields: [
    text('account_sid', 'Account SID', 'AC0123456789abcdef0123456789abcdef', 'Console, Account info.', {
      pattern: '^AC[0-9a-f]{32}$',
      pattern_hint: 'AC and 32 characters',
    }),
    text(
      'api_key_sid',
      'API key SID',
      'SK0123456789abcdef0123456789abcdef',
      'Account, API keys and tokens. The account SID works too, with the auth token as secret.',
      { pattern: '^(SK|AC)[0-9a-f]{32}$', pattern_hint: 'SK and 32 characters' },
    ),
    secret('api_key_secret', 'API key secret', 'abcdefghijklmnopqrstuvwxyz012345', 'It is shown once, when the key is created.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    text(
      'sender',
      'Sender',
      '+15005550006',
      'An active number, the name of an alphanumeric sender, or the SID of a messaging service (MG…).',
      {
        pattern: '^(\\+\\d{6,15}|whatsapp:\\+\\d{6,15}|MG[0-9a-f]{32}|[A-Za-z0-9 ]{1,11})$',
        pattern_hint: 'a number such as +15005550006, or MG and 32 characters',
      },
    ),
    text('recipient', 'Recipient', '+4915123456789', 'The number that receives the messages, with its country code.', {
      pattern: '^(whatsapp:)?\\+\\d{6,15}$',
      pattern_hint: 'a number such as +4915123456789',
    }),
  ],
  request: {
    method: 'POST',
    url: 'https://api.twilio.com/2010-04-01/Accounts/{{parameters.account_sid}}/Messages.json',
    auth: { kind: 'basic', username: '{{parameters.api_key_sid}}', password: '{{parameters.api_key_secret}}' },
    body: { kind: 'form' },
    answers: [QUEUE_FULL, RETRY_TIMEOUT],
  },
  require_one_of: [['Body']],
  default_action: 'drop',
  rate: { rps: 1, burst: 3 },
  concurrency: 1,
  variants: messageVariants(
    (text) => [template(text, 'Body', [use('truncate', 1_600)])],
    [
      from('parameters.recipient', 'To'),
      from('parameters.sender', 'From', [], { when: { not: SERVICE } }),
      from('parameters.sender', 'MessagingServiceSid', [], { when: SERVICE }),
    ],
  ),
});
