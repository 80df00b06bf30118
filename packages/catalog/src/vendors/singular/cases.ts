import { lacking, named, sentAs, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import singular from './vendor.ts';

const context = {
  app: { namespace: 'com.singular.app' },
  os: { name: 'Android', version: '9.2' },
  device: { advertising_id: 'gaid-1' },
  ip: '172.58.29.235',
};
const order = orderCompleted({ products: [] }, { context });
const url = (fields: Record<string, string>) => `https://s2s.singular.net/api/v1/evt?${new URLSearchParams(fields)}`;
const base = {
  a: 'your_org_name_sh868sdjv',
  p: 'Android',
  i: 'com.singular.app',
  ip: '172.58.29.235',
  ve: '9.2',
  aifa: 'gaid-1',
  custom_user_id: 'user-1',
  utime: '1767323045',
};
const app = (name: string, properties = {}) => track(name, properties, { context });

export default vendorCases(
  singular,
  [
    {
      name: 'a purchase is a revenue event',
      event: orderCompleted(
        { products: [], order_id: 'o-1', tax: undefined, shipping: undefined, coupon: undefined, revenue: undefined } as never,
        { context },
      ),
      requests: [
        {
          method: 'GET',
          url: url({
            ...base,
            e: '{"order_id":"o-1","total":42.5,"currency":"eur"}',
            amt: '42.5',
            cur: 'EUR',
            is_revenue_event: 'true',
            n: 'sng_ecommerce_purchase',
          }),
        },
      ],
    },
    {
      name: 'an Android device without the services of Google',
      event: track('Signed In', {}, { context: { ...context, device: { id: 'a1b2c3d4e5f60718' } } }),
      requests: [{ contains: { andi: 'a1b2c3d4e5f60718', aifa: undefined } }],
    },
    {
      name: 'iOS',
      event: track(
        'Signed In',
        {},
        { context: { ...context, os: { name: 'iOS', version: '17' }, device: { id: 'IDFV-1', advertising_id: 'IDFA-1' } } },
      ),
      requests: [
        {
          url: url({
            a: 'your_org_name_sh868sdjv',
            p: 'iOS',
            i: 'com.singular.app',
            ip: '172.58.29.235',
            ve: '17',
            idfa: 'IDFA-1',
            idfv: 'IDFV-1',
            att_authorization_status: '0',
            custom_user_id: 'user-1',
            utime: '1767323045',
            n: 'sng_login',
          }),
        },
      ],
    },
    {
      name: 'iOS with tracking allowed',
      event: track(
        'Signed In',
        {},
        { context: { ...context, os: { name: 'iOS', version: '17' }, device: { id: 'IDFV-1', ad_tracking_enabled: true } } },
      ),
      requests: [
        {
          url: url({
            a: 'your_org_name_sh868sdjv',
            p: 'iOS',
            i: 'com.singular.app',
            ip: '172.58.29.235',
            ve: '17',
            idfv: 'IDFV-1',
            att_authorization_status: '3',
            custom_user_id: 'user-1',
            utime: '1767323045',
            n: 'sng_login',
          }),
        },
      ],
    },
    ...named(
      [
        ['Products Searched', 'sng_search', 'retail'],
        ['Product List Viewed', 'sng_content_view_list', 'retail'],
        ['Product Viewed', 'sng_content_view', 'retail'],
        ['Product Added', 'sng_add_to_cart', 'retail'],
        ['Cart Viewed', 'sng_view_cart', 'retail'],
        ['Product Added to Wishlist', 'sng_add_to_wishlist', 'retail'],
        ['Checkout Started', 'sng_checkout_initiated', 'retail'],
        ['Payment Info Entered', 'sng_add_payment_info', 'retail'],
        ['Signed Up', 'sng_complete_registration', 'retail'],
        ['Trial Started', 'sng_start_trial', 'saas'],
        ['Subscription Started', 'sng_subscribe', 'media'],
        ['Offer Viewed', 'sng_content_view', 'travel'],
        ['Booking Completed', 'sng_book', 'travel'],
        ['Coupon Denied', 'Coupon Denied', 'retail'],
        ['A name of more than thirty-two characters', 'A name of more than thirty-two c'],
      ],
      (event, n) => ({ event: app(event), requests: [{ url: url({ ...base, n }) }] }),
    ),
    { name: 'an app without a name', event: bare('Order Completed'), dropped: 'missing_required:i' },
    {
      name: 'an IPv6 address, which Singular does not take',
      event: track('Signed In', {}, { context: { ...context, ip: '2001:db8::1' } }),
      dropped: 'missing_required:ip',
    },
    {
      name: 'no IP address',
      event: track('Signed In', {}, { context: { ...context, ip: undefined } as never }),
      dropped: 'missing_required:ip',
    },
    {
      name: 'a website',
      event: track('Signed In', {}, { context: { ...context, os: { name: 'Windows', version: '11' } } }),
      dropped: 'missing_required:p',
    },
    ...lacking({ ve: track('Signed In', {}, { context: { ...context, os: { name: 'iOS' } } }) }),
    { name: 'no device id', event: track('Signed In', {}, { context: { ...context, device: {} } }), dropped: 'missing_required:idfa' },
    { name: 'an identify is no event', event: identified({ context }), dropped: 'mapping_filter' },
    { name: 'a group is no event', event: grouped({ context }), dropped: 'mapping_filter' },
    ...sentAs(
      'n',
      {
        'Invite Sent': 'sng_invite',
        'Onboarding Completed': 'sng_tutorial_complete',
        'Content Shared': 'sng_share',
        'Product Reviewed': 'sng_rate',
      },
      app,
    ),
    ...sentAs('n', { Cart: 'screen_view' }, (name) => pageViewed({ original_type: 'screen', name, context })),
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { status: 'ok' } }, verdict: { kind: 'delivered' } },
    {
      name: 'an error comes as 200',
      events: [order],
      reply: { status: 200, body: { status: 'error', reason: 'invalid sdk key' } },
      verdict: { kind: 'refused', reason: 'http_200: invalid sdk key' },
    },
    { name: 'any other status', events: [order], reply: { status: 400 }, verdict: { kind: 'unavailable' } },
    ...temporaryAnswers(order),
  ],
);
