/** https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook (Workflows). */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { secret, text } from '../shared/fields.ts';
import { set, use } from '../shared/mapping.ts';
import { messageVariants, template } from '../shared/messages.ts';

const CARD = 'attachments[0].content';

export default defineVendor({
  key: 'microsoft_teams',
  name: 'Microsoft Teams',
  description: 'A card in a Teams channel or chat for orders, sign-ups, leads and what else you choose.',
  category: 'other',
  group: 'notification',
  status: 'ga',
  website:
    'https://support.microsoft.com/en-us/office/create-incoming-webhooks-with-workflows-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498',
  api_version: { version: 'Workflows, Adaptive Card 1.4', checked: '2026-11-16' },
  setup_steps: [
    'In Teams open the channel’s menu, Workflows, and choose the template that posts to a channel when a webhook request is received.',
    'Copy the URL of the workflow. Enter it without its last parameter sig, and sig as the signature.',
  ],
  see_it: 'Open the channel: the card shows at once.',
  notes: [
    'Old connectors (webhook.office.com) are retired; a workflow replaces them.',
    'Teams answers 202 before the card is posted: errors of a card are seen only in the run history of the workflow.',
    'Teams accepts 28 KB, so texts are cut to 6,000 characters.',
    'The workflow belongs to a person and stops when that person leaves.',
    'A retry after a timeout can repeat a message.',
  ],
  config_fields: [
    text(
      'workflow_url',
      'Workflow URL',
      'https://prod-01.westeurope.logic.azure.com:443/workflows/0123/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0',
      'The URL that the workflow shows, without &sig=… at its end.',
      { format: 'url', pattern: '^(?!.*[?&]sig=).*$', pattern_hint: 'without the parameter sig, which belongs into the field Signature' },
    ),
    secret('signature', 'Signature', 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG', 'The value of sig at the end of the URL.', {
      pattern: '^\\S+$',
      pattern_hint: 'the value of sig only',
    }),
  ],
  request: {
    method: 'POST',
    url: '{{parameters.workflow_url}}',
    query: { sig: '{{parameters.signature}}' },
    body: { kind: 'json' },
    answers: [RETRY_TIMEOUT],
  },
  require_one_of: [[`${CARD}.body[0].text`]],
  default_action: 'drop',
  rate: { rps: 2, burst: 4 },
  concurrency: 1,
  variants: messageVariants(
    (text) => [template(text, `${CARD}.body[0].text`, [use('truncate', 6_000)])],
    [
      set('type', 'message'),
      set('attachments[0].contentType', 'application/vnd.microsoft.card.adaptive'),
      set(`${CARD}.$schema`, 'http://adaptivecards.io/schemas/adaptive-card.json'),
      set(`${CARD}.type`, 'AdaptiveCard'),
      set(`${CARD}.version`, '1.4'),
      set(`${CARD}.body[0].type`, 'TextBlock'),
      set(`${CARD}.body[0].wrap`, true),
    ],
  ),
});
