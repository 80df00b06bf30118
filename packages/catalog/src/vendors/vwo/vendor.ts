/** https://developers.vwo.com/; wingify/vwo-fme-node-sdk (NetworkUtil), segmentio/action-destinations (vwo). */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { select, text } from '../shared/fields.ts';
import { DISABLED, event, from, set } from '../shared/mapping.ts';
import { template } from '../shared/messages.ts';
import * as source from '../shared/sources.ts';

const VISITOR = ['context.vendor_ids.vwo_uuid', 'context.vendor_ids._vwo_uuid'];
const PROPS = 'd.event.props';

export default defineVendor({
  key: 'vwo',
  name: 'VWO',
  description: 'Events into VWO Data360, as metrics of tests.',
  category: 'other',
  group: 'personalisation_and_testing',
  status: 'beta',
  website: 'https://developers.vwo.com/',
  api_version: { version: 'events/t', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In VWO open Account, Details, and note the account ID.',
    'Register every event that you send in Data360, Events, with the same name.',
    'Send the cookie _vwo_uuid of your page as context.vendor_ids.vwo_uuid.',
  ],
  see_it: 'Open Data360, Events, the event: its last time shows there.',
  notes: [
    'Visitors are known by the cookie _vwo_uuid; others are dropped.',
    'Nested properties are left out. Identify and group calls are not sent.',
    'VWO answers 200 also for events that it does not know.',
    'Open: VWO has no public reference of this call; the fields are those of its libraries and of a public implementation.',
  ],
  config_fields: [
    text('account_id', 'Account ID', '123456', 'Account, Details.', { pattern: '^\\d{3,10}$', pattern_hint: 'digits only' }),
    select('path', 'Region', ['events', 'eu01/events', 'as01/events'], 'events for the US, eu01/events for the EU, as01/events for Asia.'),
  ],
  request: {
    method: 'POST',
    url: 'https://dev.visualwebsiteoptimizer.com/{{parameters.path | path}}/t',
    query: { en: '{{payload.d.event.name}}', a: '{{parameters.account_id}}' },
    headers: { 'User-Agent': '{{event.context.user_agent}}', 'X-Forwarded-For': '{{event.context.ip}}' },
    body: { kind: 'json' },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'd.event.name' },
  limits: [{ path: PROPS, scalars_only: true, keep: ['vwoMeta', 'page'] }],
  require_one_of: [['d.visId']],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: [
      from(VISITOR, 'd.visId', ['to_string']),
      template(
        '{{#if context.vendor_ids.vwo_uuid}}{{context.vendor_ids.vwo_uuid}}{{else}}{{context.vendor_ids._vwo_uuid}}{{/if}}-{{event_id}}',
        'd.msgId',
      ),
      from(['context.session.started_at', 'timestamp'], 'd.sessionId', ['to_unix_seconds']),
      from('timestamp', 'd.event.time', ['to_unix_millis']),
      from('properties', PROPS),
      set(`${PROPS}.isCustomEvent`, true),
      set(`${PROPS}.vwoMeta.source`, 'firsthand'),
      from(source.PAGE_URL, `${PROPS}.page.url`),
      from('context.page.title', `${PROPS}.page.title`),
      from(source.REFERRER, `${PROPS}.page.referrerUrl`),
    ],
    lines: { purchase: orderTotal(`${PROPS}.revenue`), booking: orderTotal(`${PROPS}.revenue`) },
    others: {
      // The name of VWO's own page views, which need not be registered.
      '@page': event('vwo_pageView', [set(`${PROPS}.isCustomEvent`, false), from(source.OWN_PAGE_URL, `${PROPS}.url`)]),
      '@screen': event('screen_view', []),
      '@identify': DISABLED,
      '@group': DISABLED,
    },
  }),
});
