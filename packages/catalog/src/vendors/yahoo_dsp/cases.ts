import { ISOLATED, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import yahoo from './vendor.ts';

const url = 'https://batch.datax.yahoo.com/v1/events/10012345';
const context = { ...CONTEXT, click_ids: { vmcid: 'vm-1' } };
const web = { eventId: 'evt-1', eventTs: 1767323045678, actionSource: 'web', actionSourceUrl: 'https://shop.example/checkout?x=1' };
const browser = { ip_address: '203.0.113.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' };
const order = orderCompleted({ currency: 'USD' }, { context });

export default vendorCases(
  yahoo,
  [
    {
      name: 'a purchase in US dollars',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer access-token' },
          body: [
            {
              ...web,
              eventName: 'purchase',
              country: 'US',
              region: 'New York',
              userData: { email: [HASHED.email], phone: [HASHED.phone], ...browser },
              clickData: { vmcid: 'vm-1' },
              eventData: { price: 42.5, products: [{ category: 'Drinks' }] },
            },
          ],
        },
      ],
    },
    {
      name: 'an app, streamed, whose user opted out; euros are not sent',
      config: { delivery: 'streaming' },
      event: track(
        'Order Completed',
        { total: 5, currency: 'EUR' },
        {
          traits: {},
          context: { os: { name: 'iOS' }, device: { advertising_id: 'IDFA-1' }, consent: { canonical: { advertising: false } } },
        },
      ),
      requests: [
        {
          url: 'https://streaming.datax.yahoo.com/v1/events/10012345',
          body: [
            {
              eventId: 'evt-1',
              eventTs: 1767323045678,
              actionSource: 'app',
              eventName: 'purchase',
              userData: { idfa: ['IDFA-1'] },
              privacy: { privacy_type: 'OPTOUT' },
            },
          ],
        },
      ],
    },
    {
      name: 'other events through the table, in one batch',
      variant: 'saas',
      config: {
        rules: [
          { event: 'Signed Up', event_name: 'signup' },
          { event: '@page', event_name: 'visit' },
        ],
      },
      event: track('Signed Up', {}, { traits: {}, context }),
      batched: [pageViewed({ context })],
      requests: [
        {
          body: [
            { ...web, eventName: 'signup', userData: browser, clickData: { vmcid: 'vm-1' } },
            { ...web, eventId: 'evt-2', eventName: 'visit', userData: browser, clickData: { vmcid: 'vm-1' } },
          ],
        },
      ],
    },
    {
      name: 'an order from a till',
      event: track('Order Completed', {}, { traits: { email: 'anna.berg@example.com' }, context: {} }),
      requests: [
        {
          body: [
            {
              eventId: 'evt-1',
              eventTs: 1767323045678,
              actionSource: 'physical_store',
              eventName: 'purchase',
              userData: { email: [HASHED.email] },
            },
          ],
        },
      ],
    },
    { name: 'nobody to match', event: bare('Order Completed'), dropped: 'missing_required:userData.email' },
    {
      name: 'a click id alone',
      event: { ...bare('Order Completed'), context: { click_ids: { vmcid: 'vm-1' } } },
      dropped: 'missing_required:userData.email',
    },
    { name: 'an event without a rule', event: track('Signed Up', {}, { context }), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { success: 'COMPLETE' } }, verdict: { kind: 'delivered' } },
    {
      name: 'PARTIAL names no event',
      events: [order, order],
      reply: { status: 200, body: { success: 'PARTIAL', message: '1 of 2' } },
      verdict: { kind: 'delivered' },
    },
    { name: 'a bad event among several', events: [order, order], reply: { status: 400, body: {} }, verdict: ISOLATED },
    {
      name: 'a bad event',
      events: [order],
      reply: { status: 400, body: { message: 'eventTs' } },
      verdict: { kind: 'refused', reason: 'http_400: eventTs' },
    },
    {
      name: 'an expired token',
      events: [order],
      reply: { status: 401, body: {} },
      verdict: { kind: 'unavailable', refresh_token: true } as never,
    },
    ...temporaryAnswers(order),
  ],
);
