/**
 * StackAdapt universal pixel, called from the server. StackAdapt's own server tag (stackadapt-gtm-server-side-pixel) and the destination
 * that it maintains at Segment (segmentio/action-destinations, stackadapt/forwardEvent), read on 2026-11-19.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { NO_IDENTITY_CALLS } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { idOf, text } from '../shared/fields.ts';
import { event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const SINGLE = [
  from(source.productId, 'args.product_id', ['to_string']),
  from(source.productName, 'args.product_name', ['to_string']),
  from(source.CATEGORY, 'args.product_category', ['to_string']),
  from('properties.price', 'args.product_price', ['to_number']),
  from('properties.quantity', 'args.product_quantity', ['to_integer']),
];
const lines = adLines({
  products: {
    at: 'args.products',
    names: { id: 'product_id', name: 'product_name', category: 'product_category', price: 'product_price', quantity: 'product_quantity' },
    style: { default_quantity: true },
  },
  value: 'args.revenue',
  order_id: 'args.order_id',
});

const variants = blueprints({
  // The action is free text that pixel rules compare with: every event keeps its name.
  names: 'keep',
  global: [
    from('parameters.pixel_id', 'uid'),
    from(source.PAGE_URL, 'url'),
    from(source.REFERRER, 'ref'),
    from('context.page.title', 'title'),
    from(['context.campaign.source', 'context.campaign.utm_source'], 'utm_source'),
    from('context.vendor_ids.stackadapt_user_id', 'user_id'),
    // StackAdapt matches by both, and only by them.
    from('context.ip', 'ip_fwd', [], { required: true }),
    from('context.user_agent', 'ua_fwd', [], { required: true }),
    set('args', {}, { when: { field: 'type', op: 'eq', value: 'track' } }),
  ],
  lines: { ...lines, product: SINGLE, trip_offer: SINGLE, search: [], trip_search: [], promotion: [], content: [], video: [], feature: [] },
  // Page rules compare the URL; an action would be none.
  others: { ...NO_IDENTITY_CALLS, '@page': event(undefined, [from(source.OWN_PAGE_URL, 'url')]) },
  defaults: { action: 'map' },
});

export default defineVendor({
  key: 'stackadapt',
  name: 'StackAdapt',
  description: 'Events into a StackAdapt universal pixel, for conversions and retargeting.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://github.com/StackAdapt/stackadapt-gtm-server-side-pixel',
  api_version: { version: 'saq_pxl', checked: '2026-11-19' },
  setup_steps: [
    'In StackAdapt open Pixels, create a universal pixel and copy its ID.',
    'Create rules that compare the URL or the action (the event’s name) for each conversion.',
  ],
  see_it: 'Open Pixels, the universal pixel: its rules show the number of events.',
  notes: [
    'Open: StackAdapt gives integrations a flag of their own (gtm_ss, segment_ss). Without one the events are those of the plain pixel.',
    'StackAdapt matches by IP address and user agent, so both are sent as headers of the request and as fields; events without one of them are dropped.',
    'E-mail address, phone number and names are not sent: the pixel takes them without a hash only.',
    'StackAdapt has no deduplication id and reports no errors.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'pixel_id',
      'Universal pixel ID',
      'abCDef12345_-xyz',
      'StackAdapt, Pixels, the universal pixel.',
      idOf('the id of a universal pixel'),
    ),
  ],
  request: {
    method: 'GET',
    url: 'https://tags.srv.stackadapt.com/saq_pxl',
    headers: { 'User-Agent': '{{event.context.user_agent}}', 'X-Forwarded-For': '{{event.context.ip}}' },
    body: { kind: 'query' },
    answers: [RETRY_TIMEOUT],
  },
  // Of every event, because rules compare it; a page has none.
  event_name: { target: 'args.action', only_with: 'args' },
  compact: [{ path: 'args.products', needs: ['product_id'] }],
  default_action: 'drop',
  rate: { rps: 20, burst: 40 },
  variants,
});
