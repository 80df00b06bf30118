import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, PRODUCTS, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import adobeAnalytics from './vendor.ts';

const url = 'https://example.data.adobedc.net/b/ss//6';
const headers = { 'Content-Type': 'application/xml' };
const tag = ([name, value]: [string, unknown]) => `<${name}>${value}</${name}>`;
const says = (fields: object) => [
  {
    method: 'POST',
    url,
    headers,
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<request>${Object.entries({ ...fields, scXmlVer: '1.0', reportSuiteID: 'examplersid' })
      .map(tag)
      .join('')}</request>`,
  },
];
const head = { visitorId: 'anon1', timestamp: 1767323045 };
const web = {
  ipAddress: '203.0.113.7',
  userAgent: CONTEXT.user_agent,
  language: 'de-DE',
  pageUrl: 'https://shop.example/checkout?x=1',
  referrer: 'https://www.example.org/',
};
const ids = (event: string) => ({ 'contextData.event_id': event, 'contextData.user_id': 'user-1' });
const context = (fields: object) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [`contextData.${name}`, value]));
const order = orderCompleted();

export default vendorCases(
  adobeAnalytics,
  [
    {
      name: 'an order with its products',
      event: order,
      requests: says({
        ...context({ order_id: 'o-1', total: 42.5, revenue: 35, tax: 5, shipping: 2.5, currency: 'eur', coupon: 'TEA10' }),
        ...head,
        ...web,
        ...ids('evt-1'),
        linkType: 'o',
        events: 'purchase',
        products: 'Drinks;p-1;2;20,;S2;1;22.5',
        currencyCode: 'EUR',
        purchaseId: 'o-1',
        linkName: 'Order Completed',
      }),
    },
    {
      name: 'a product view',
      variant: 'retail',
      event: productViewed(),
      requests: says({
        ...context({ product_id: 'p-1', name: 'Tea', category: 'Drinks', price: 10, currency: 'EUR' }),
        ...head,
        ...web,
        ...ids('evt-1'),
        linkType: 'o',
        events: 'prodView',
        products: 'Drinks;p-1;1;10',
        currencyCode: 'EUR',
        linkName: 'Product Viewed',
      }),
    },
    {
      name: 'a cart, at a report suite without timestamps',
      config: { timestamps: 'none' },
      event: track('Cart Viewed', { products: PRODUCTS }, { context: {} }),
      requests: says({
        visitorId: 'anon1',
        ...ids('evt-1'),
        linkType: 'o',
        events: 'scView',
        products: 'Drinks;p-1;2;20,;S2;1;22.5',
        linkName: 'Cart Viewed',
      }),
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({ ...context({ path: '/' }), ...head, ...web, ...ids('evt-2'), pageName: 'Home' }),
    },
    {
      name: 'a visitor with an ECID, and a campaign',
      config: { org_id: '0123456789ABCDEF01234567@AdobeOrg' },
      event: pageViewed({ context: { vendor_ids: { ecid: '79616681662205094719519402412079274310' }, campaign: { name: 'may' } } }),
      requests: says({
        ...context({ path: '/' }),
        marketingCloudVisitorId: '79616681662205094719519402412079274310',
        marketingCloudOrgId: '0123456789ABCDEF01234567@AdobeOrg',
        timestamp: 1767323045,
        campaign: 'may',
        ...ids('evt-2'),
        pageName: 'Home',
      }),
    },
    {
      name: 'any other event is a custom link, its text escaped',
      event: track('Quiz Taken', { score: { right: '<3 & 4' } }, { context: {} }),
      requests: says({ 'contextData.score.right': '&lt;3 &amp; 4', ...head, ...ids('evt-1'), linkType: 'o', linkName: 'Quiz Taken' }),
    },
    {
      name: 'a list is one text, because an element has one value',
      event: track('Quiz Taken', { answers: [1, 'b'] }, { context: {} }),
      requests: says({ 'contextData.answers': '[1,&quot;b&quot;]', ...head, ...ids('evt-1'), linkType: 'o', linkName: 'Quiz Taken' }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: { app: { namespace: 'com.shop' } } }),
      requests: says({ ...context({ path: '/' }), ...head, ...ids('evt-2'), pageName: 'Home' }),
    },
    {
      name: 'a long order id is hashed, because Adobe compares the first 20 bytes only',
      event: track('Order Completed', { order_id: 'gid://shopify/Order/5123456789' }, { context: {} }),
      requests: says({
        'contextData.order_id': 'gid://shopify/Order/5123456789',
        ...head,
        ...ids('evt-1'),
        linkType: 'o',
        events: 'purchase',
        // printf 'gid://shopify/Order/5123456789' | sha256sum | cut -c1-20
        purchaseId: '0822af66fddc7223d631',
        linkName: 'Order Completed',
      }),
    },
    {
      name: 'a long order id beside a short id of the checkout',
      event: track('Order Completed', { order_id: 'gid://shopify/Order/5123456789', checkout_id: 'c-1' }, { context: {} }),
      requests: says({
        'contextData.order_id': 'gid://shopify/Order/5123456789',
        'contextData.checkout_id': 'c-1',
        ...head,
        ...ids('evt-1'),
        linkType: 'o',
        events: 'purchase',
        purchaseId: '0822af66fddc7223d631',
        linkName: 'Order Completed',
      }),
    },
    { name: 'an order without an id', event: orderCompleted({ order_id: null }), dropped: 'missing_required:purchaseId' },
    ...lacking({ pageName: { ...pageViewed({ original_type: 'screen' }), name: '' } }),
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:marketingCloudVisitorId' },
    { name: 'identify has no call', event: identified(), dropped: 'mapping_filter' },
    { name: 'group has no call', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    {
      name: 'recorded',
      events: [order],
      reply: { status: 200, body: '<?xml version="1.0" encoding="UTF-8"?>\n<status>SUCCESS</status>' },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'rejected inside a 200',
      events: [order],
      reply: {
        status: 200,
        body: '<?xml version="1.0" encoding="UTF-8"?>\n<status>FAILURE</status> <reason>NO pagename OR pageurl</reason>',
      },
      verdict: {
        kind: 'refused',
        reason: 'http_200: <?xml version="1.0" encoding="UTF-8"?> <status>FAILURE</status> <reason>NO pagename OR pageurl</reason>',
      },
    },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
