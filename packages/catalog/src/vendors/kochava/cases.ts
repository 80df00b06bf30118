import { named, sentAs, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import kochava from './vendor.ts';

const url = 'https://control.kochava.com/track/json';
const context = {
  app: { namespace: 'com.shop', version: '2.1' },
  os: { name: 'Android' },
  device: { id: 'android-1', advertising_id: 'gaid-1' },
  ip: '203.0.113.7',
  user_agent: 'Shop/2.1',
};
const data = {
  usertime: 1767323045,
  app_version: '2.1',
  device_ver: '',
  origination_ip: '203.0.113.7',
  device_ua: 'Shop%2F2.1',
  device_ids: { adid: 'gaid-1', android_id: 'android-1' },
};
const head = { action: 'event', kochava_app_id: 'koexample-app-ab12c', kochava_device_id: '' };
const order = orderCompleted({}, { context });

export default vendorCases(
  kochava,
  [
    {
      name: 'a purchase',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          body: {
            ...head,
            data: {
              ...data,
              event_name: 'Purchase',
              currency: 'EUR',
              event_data: {
                order_id: 'o-1',
                total: 42.5,
                revenue: 35,
                tax: 5,
                shipping: 2.5,
                currency: 'eur',
                coupon: 'TEA10',
                event_id: 'evt-1',
                sum: 42.5,
              },
            },
          },
        },
      ],
    },
    {
      name: 'iOS with the Kochava device id, the answer to Apple’s prompt and the consent of a user in the EEA',
      config: { eea: true },
      event: track(
        'Signed In',
        {},
        {
          context: {
            os: { name: 'iOS' },
            device: { id: 'IDFV-1', advertising_id: 'IDFA-1', ad_tracking_enabled: true },
            consent: { canonical: { advertising: true } },
            ip: '203.0.113.7',
            user_agent: 'Shop/2.1',
            vendor_ids: { kochava_device_id: 'KV-1' },
          },
        },
      ),
      requests: [
        {
          body: {
            ...head,
            kochava_device_id: 'KV-1',
            data: {
              usertime: 1767323045,
              device_ver: '',
              origination_ip: '203.0.113.7',
              device_ua: 'Shop%2F2.1',
              device_ids: { idfa: 'IDFA-1', idfv: 'IDFV-1' },
              device_limit_tracking: false,
              app_tracking_transparency: { att: true },
              gdpr_privacy_consent: { gdpr_applies: 1, ad_user_data: 1, ad_personalization: 1 },
              event_name: 'Signed In',
              event_data: { event_id: 'evt-1' },
            },
          },
        },
      ],
    },
    ...named(
      [
        ['Products Searched', 'Search', 'retail'],
        ['Product Viewed', 'View', 'retail'],
        ['Product Added', 'Add to Cart', 'retail'],
        ['Product Added to Wishlist', 'Add to Wish List', 'retail'],
        ['Checkout Started', 'Checkout Start', 'retail'],
        ['Signed Up', 'Registration Complete', 'retail'],
        ['Product Reviewed', 'Rating', 'retail'],
        ['Trial Started', 'Start Trial', 'saas'],
        ['Onboarding Completed', 'Tutorial Complete', 'saas'],
        ['Subscription Started', 'Subscribe', 'media'],
        ['Hotel Searched', 'Search', 'travel'],
        ['Something Else', 'Something Else'],
      ],
      (event, event_name) => ({
        event: track(event, {}, { context }),
        requests: [{ body: { ...head, data: { ...data, event_name, event_data: { event_id: 'evt-1' } } } }],
      }),
    ),
    {
      name: 'no device',
      event: track('Signed In', {}, { context: { ...context, device: {} } }),
      dropped: 'missing_required:kochava_device_id',
    },
    { name: 'no IP address', event: bare('Order Completed'), dropped: 'missing_required:data.origination_ip' },
    {
      name: 'no user agent',
      event: track('Signed In', {}, { context: { ...context, user_agent: undefined } as never }),
      dropped: 'missing_required:data.device_ua',
    },
    { name: 'an identify is no event', event: identified({ context }), dropped: 'mapping_filter' },
    { name: 'a group is no event', event: grouped({ context }), dropped: 'mapping_filter' },
    ...sentAs('data.event_name', { Cart: 'screen_view' }, (name) => pageViewed({ original_type: 'screen', name, context })),
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { success: '1' } }, verdict: { kind: 'delivered' } },
    {
      name: 'an error comes as 200',
      events: [order],
      reply: { status: 200, body: { success: '0', error: 'invalid kochava_app_id' } },
      verdict: { kind: 'refused', reason: 'http_200: invalid kochava_app_id' },
    },
    ...temporaryAnswers(order),
  ],
);
