import { temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { CONTEXT, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import outbrain from './vendor.ts';

const url = (fields: Record<string, string>) => `https://tr.outbrain.com/unifiedPixel?${new URLSearchParams(fields)}`;
const context = { ...CONTEXT, click_ids: { ob_click_id: 'v1-abc', dicbo: 'other' } };
const order = orderCompleted({}, { context });

export default vendorCases(
  outbrain,
  [
    {
      name: 'a purchase',
      event: order,
      requests: [
        { method: 'GET', url: url({ ob_click_id: 'v1-abc', orderId: 'o-1', orderValue: '42.5', currency: 'EUR', name: 'Purchase' }) },
      ],
    },
    {
      name: 'other events have rows of their own',
      variant: 'saas',
      config: {
        conversions: [
          { event: 'Lead Generated', name: 'Lead form' },
          { event: '@page', name: 'Landing' },
        ],
      },
      event: track('Lead Generated', { value: 5 }, { context }),
      batched: [pageViewed({ context })],
      requests: [{ url: url({ ob_click_id: 'v1-abc', name: 'Lead form' }) }, { url: url({ ob_click_id: 'v1-abc', name: 'Landing' }) }],
    },
    {
      name: 'dicbo is not a click id of this endpoint',
      event: track('Order Completed', {}, { context: { click_ids: { dicbo: 'x' } } }),
      dropped: 'missing_required:ob_click_id',
    },
    { name: 'an event without a conversion', event: track('Signed Up', {}, { context }), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'received', events: [order], reply: { status: 200, body: '' }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400, body: '' }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
