import { named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import quora from './vendor.ts';

const url = 'https://api.quora.com/ads/v0/conversion';
const context = { ...CONTEXT, click_ids: { qclid: 'q-1' } };
const visit = visitOf(context);
const conversion = { timestamp: 1767323045678000, event_id: 'evt-1', click_id: 'q-1' };
const device = { user_agent: 'Mozilla/5.0 (X11; Linux x86_64)', referer: 'https://www.example.org/', language: 'de' };
const order = orderCompleted({}, { context });
const sent = (more: object) => [{ url, body: { account_id: 1234567890, user: {}, device, conversion: { ...conversion, ...more } } }];

export default vendorCases(
  quora,
  [
    {
      name: 'a purchase: no user data, the object is empty',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer qa_exampletoken0123456789' },
          body: { account_id: 1234567890, user: {}, device, conversion: { ...conversion, event_name: 'Purchase', value: 42.5 } },
        },
      ],
    },
    { name: 'a page view is generic', event: pageViewed({ context }), requests: sent({ event_name: 'Generic', event_id: 'evt-2' }) },
    {
      name: 'an app event; the click id from the cookie quora_qclid',
      event: track('Signed Up', {}, { traits: {}, context: { vendor_ids: { qclid: 'q-2' }, device: { advertising_id: 'gaid-1' } } }),
      requests: [
        {
          body: {
            account_id: 1234567890,
            user: {},
            device: { mobile_device_id: 'gaid-1' },
            conversion: { ...conversion, click_id: 'q-2', event_name: 'CompleteRegistration' },
          },
        },
      ],
    },
    ...named(
      [
        ['Products Searched', 'Search', 'retail'],
        ['Product List Viewed', 'ViewContent', 'retail'],
        ['Product Viewed', 'ViewContent', 'retail'],
        ['Product Added', 'AddToCart', 'retail'],
        ['Product Added to Wishlist', 'AddToWishlist', 'retail'],
        ['Checkout Started', 'InitiateCheckout', 'retail'],
        ['Payment Info Entered', 'AddPaymentInfo', 'retail'],
        ['Lead Generated', 'GenerateLead', 'saas'],
        ['Application Installed', 'AppInstall'],
        ['Article Viewed', 'ViewContent', 'media'],
        ['Trip Searched', 'Search', 'travel'],
      ],
      (event, event_name) => ({ event: visit(event), requests: sent({ event_name }) }),
    ),
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:conversion.click_id' },
    { name: 'a refund', event: visit('Order Refunded'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: {} }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400, body: {} }, verdict: { kind: 'refused' } },
    { name: 'a bad token', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
