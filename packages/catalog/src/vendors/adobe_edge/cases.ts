import { sentAs, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, HASHED, identified, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import adobeEdge from './vendor.ts';

const url = 'https://server.adobedc.net/ee/v2/collect?datastreamId=0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11';
const headers = {
  Authorization: 'Bearer access-token',
  'x-gw-ims-org-id': '0123456789ABCDEF01234567@AdobeOrg',
  'x-api-key': '0123456789abcdef0123456789abcdef',
};
const mail = { Email_LC_SHA256: [{ id: HASHED.email, primary: true }] };
const timestamp = '2026-01-02T03:04:05.678Z';
const web = {
  web: {
    webPageDetails: { URL: 'https://shop.example/checkout?x=1', name: 'Checkout' },
    webReferrer: { URL: 'https://www.example.org/' },
  },
  environment: { ipV4: '203.0.113.7', browserDetails: { userAgent: CONTEXT.user_agent } },
};
const says = (...events: object[]) => [{ method: 'POST', url, headers, body: { events } }];
const order = orderCompleted();
const quiz = track('Quiz Taken', { score: 3 }, { event_id: 'evt-7', context: {} });
const sentOrder = {
  xdm: {
    _id: 'evt-1',
    timestamp,
    identityMap: mail,
    eventType: 'commerce.purchases',
    ...web,
    commerce: { purchases: { value: 1 }, order: { purchaseID: 'o-1', priceTotal: 42.5, currencyCode: 'EUR' } },
    productListItems: [
      { SKU: 'p-1', name: 'Tea', quantity: 2, priceTotal: 20, currencyCode: 'EUR' },
      { SKU: 'S2', name: 'Cup', quantity: 1, priceTotal: 22.5, currencyCode: 'EUR' },
    ],
  },
  data: { ...order.properties, user_id: 'user-1' },
};
const sentQuiz = { xdm: { _id: 'evt-7', timestamp, identityMap: mail, eventType: 'Quiz Taken' }, data: { score: 3, user_id: 'user-1' } };

export default vendorCases(
  adobeEdge,
  [
    { name: 'an order', event: order, requests: says(sentOrder) },
    { name: 'a batch', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'a product, of a visitor with an ECID',
      variant: 'retail',
      event: productViewed({ context: { vendor_ids: { ecid: '79616681662205094719519402412079274310' } } }),
      requests: says({
        xdm: {
          _id: 'evt-1',
          timestamp,
          identityMap: { ECID: [{ id: '79616681662205094719519402412079274310', primary: true }], Email_LC_SHA256: [{ id: HASHED.email }] },
          eventType: 'commerce.productViews',
          commerce: { productViews: { value: 1 } },
          productListItems: [{ SKU: 'p-1', name: 'Tea', priceTotal: 10, currencyCode: 'EUR' }],
        },
        data: { product_id: 'p-1', name: 'Tea', category: 'Drinks', price: 10, currency: 'EUR', user_id: 'user-1' },
      }),
    },
    {
      name: 'a page, of a visitor whose anonymous id is a UUID',
      event: pageViewed({ anonymous_id: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' }),
      requests: says({
        xdm: {
          _id: 'evt-2',
          timestamp,
          identityMap: { FPID: [{ id: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11', primary: true }] },
          eventType: 'web.webpagedetails.pageViews',
          ...web,
          web: {
            ...web.web,
            webPageDetails: { URL: 'https://shop.example/checkout?x=1', name: 'Home', pageViews: { value: 1 } },
          },
        },
        data: { path: '/', user_id: 'user-1' },
      }),
    },
    {
      name: 'an order without an id',
      event: orderCompleted({ order_id: null }),
      dropped: 'missing_required:xdm.commerce.order.purchaseID',
    },
    {
      name: 'nobody Adobe could know',
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' },
      dropped: 'missing_required:xdm.identityMap',
    },
    {
      name: 'an e-mail trait that is no address identifies nobody',
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1', traits: { email: 'n/a' } },
      dropped: 'missing_required:xdm.identityMap',
    },
    {
      name: 'an address that was hashed in the browser',
      event: { ...bare('Quiz Taken'), traits: { email: HASHED.email } },
      requests: [{ contains: { 'events[0].xdm.identityMap': { Email_LC_SHA256: [{ id: HASHED.email, primary: true }] } } }],
    },
    {
      name: 'a UUID of another version is no FPID',
      event: { ...bare('Quiz Taken'), anonymous_id: '01890a5d-ac96-774b-bcce-b302099a8057' },
      dropped: 'missing_required:xdm.identityMap',
    },
    { name: 'identify is not sent', event: identified(), dropped: 'mapping_filter' },
    { name: 'groups are not sent', event: grouped(), dropped: 'mapping_filter' },
    ...sentAs('events[0].xdm.eventType', {
      'Product Added': 'commerce.productListAdds',
      'Product Removed': 'commerce.productListRemovals',
      'Cart Viewed': 'commerce.productListViews',
      'Checkout Started': 'commerce.checkouts',
      'Product Added to Wishlist': 'commerce.saveForLaters',
    }),
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202, body: { requestId: 'r-1' } }, verdict: { kind: 'delivered' } },
    {
      name: 'accepted, with an error behind the edge',
      events: [order],
      reply: { status: 207, body: { errors: [{ title: 'Upstream failed', status: 503 }] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one of several is not valid',
      events: [order, quiz],
      reply: { status: 400, body: { title: 'Missing primary identity', status: 400, type: '0306-400' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 422, body: { title: 'Unknown namespace', status: 422 } },
      verdict: { kind: 'refused', reason: 'http_422: Unknown namespace' },
    },
    {
      name: 'a 500 is not repeated',
      events: [order],
      reply: { status: 500, body: { title: 'Internal error' } },
      verdict: { kind: 'refused', reason: 'http_500: Internal error' },
    },
    {
      name: 'the token has expired',
      events: [order],
      reply: { status: 401, body: { title: 'Unauthorized' } },
      verdict: { kind: 'unavailable', refresh_token: true } as never,
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '2' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 2_000 },
    },
    { name: 'a gateway', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
