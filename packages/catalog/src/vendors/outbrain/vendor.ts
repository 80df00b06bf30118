/** Outbrain server-to-server conversions. outbrain.com/help, server2server integrations, and a public integration, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { eventTable, text } from '../shared/fields.ts';
import { from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const variants = blueprints({
  // Outbrain has no standard names. The table enables an event and gives the name of its conversion.
  names: {},
  global: [from(source.clickId('ob_click_id'), 'ob_click_id', [], { required: true })],
  lines: adLines({ value: 'orderValue', currency: 'currency', order_id: 'orderId' }),
});

export default defineVendor({
  key: 'outbrain',
  name: 'Outbrain',
  description: 'Conversions of Outbrain ads, by click id.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://www.outbrain.com/help/advertisers/server2server-integrations/',
  api_version: { version: 'unifiedPixel', checked: '2026-11-16' },
  setup_steps: [
    'In Outbrain Amplify open Pixels, Conversions, and create an event-based conversion for each event.',
    'Add ob_click_id={{ob_click_id}} to the tracking code of your campaigns, so that landing pages get the click id.',
    'Copy the event name of each conversion into the table below.',
  ],
  see_it: 'Open Conversions in Amplify: the conversion turns to Active, with its last activity.',
  notes: [
    'Open: orderId, orderValue and currency are parameters of Outbrain’s pixel; in the request with a click id they were seen in public integrations.',
    'The name must be that of the conversion, to the letter. Outbrain reports no error for a single event.',
    'Only events with ob_click_id are sent. dicbo, the automatic parameter, is another id and does not work here.',
    'The time of the event is not sent: its time zone is not documented. A delayed event counts when it arrives.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    eventTable(
      'conversions',
      'Conversions',
      text('name', 'Conversion name', 'Purchase', 'Amplify, Pixels, Conversions: the event name.', {
        pattern: '^[^\\r\\n]{1,100}$',
        pattern_hint: 'at most 100 characters',
      }),
      'Events and the conversion of each. A row enables its event.',
    ),
  ],
  request: { method: 'GET', url: 'https://tr.outbrain.com/unifiedPixel', body: { kind: 'query' }, answers: [RETRY_TIMEOUT] },
  event_name: { target: 'name' },
  event_table: { field: 'conversions', event: 'event', vendor_event_name: 'name' },
  together: [['orderValue', 'currency']],
  default_action: 'drop',
  rate: { rps: 20, burst: 40 },
  variants,
});
