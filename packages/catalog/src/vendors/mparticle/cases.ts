import type { JsonObject } from '@firsthand/core/json.ts';
import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import mparticle from './vendor.ts';

const url = 'https://s2s.us1.mparticle.com/v2/bulkevents';
// Basic, key and secret.
const headers = {
  Authorization: 'Basic dXMxLTAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVmOmFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1Njc4OV8tQUJDREVG',
};
const known = { customer_id: 'user-1', email: 'anna.berg@example.com', mobile_number: '+4915123456789', other: 'anon-1' };
const ids = { customer_id: 'user-1', other: 'anon-1' };
const web = { environment: 'production', ip: '203.0.113.7', device_info: { platform: 'web', http_header_user_agent: CONTEXT.user_agent } };
const page_url = 'https://shop.example/checkout?x=1';
const stamp = (id: string) => ({ timestamp_unixtime_ms: 1767323045678, source_message_id: id });
const says = (...batches: object[]) => [{ method: 'POST', url, headers, body: batches }];
const order = orderCompleted();
const appEvent = (context: JsonObject) => track('Quiz Taken', {}, { context: { app: { namespace: 'com.shop' }, ...context } });
const deviceInfo = (device_info: JsonObject) => [{ contains: { '[0].device_info': device_info } }];
const attributes = { order_id: 'o-1', total: 42.5, revenue: 35, tax: 5, shipping: 2.5, currency: 'eur', coupon: 'TEA10', page_url };
const quiz = track('Quiz Taken', { score: 3 }, { event_id: 'evt-7', traits: {}, context: {} });
const sentQuiz = {
  environment: 'production',
  user_identities: ids,
  source_request_id: 'evt-7',
  events: [
    {
      event_type: 'custom_event',
      data: { ...stamp('evt-7'), event_name: 'Quiz Taken', custom_event_type: 'other', custom_attributes: { score: 3 } },
    },
  ],
};
const sentOrder = {
  ...web,
  user_identities: known,
  source_request_id: 'evt-1',
  events: [
    {
      event_type: 'commerce_event',
      data: {
        ...stamp('evt-1'),
        custom_attributes: attributes,
        currency_code: 'EUR',
        product_action: {
          action: 'purchase',
          transaction_id: 'o-1',
          total_amount: 42.5,
          tax_amount: 5,
          shipping_amount: 2.5,
          coupon_code: 'TEA10',
          products: [
            { id: 'p-1', name: 'Tea', brand: 'Leaf', category: 'Drinks', variant: 'green', price: 10, quantity: 2, position: 1 },
            { id: 'S2', name: 'Cup', price: 22.5 },
          ],
        },
      },
    },
  ],
};

export default vendorCases(
  mparticle,
  [
    { name: 'an order is a commerce event', event: order, requests: says(sentOrder) },
    { name: 'a batch', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'a product view',
      variant: 'retail',
      event: productViewed({ traits: {} }),
      requests: says({
        ...web,
        user_identities: ids,
        source_request_id: 'evt-1',
        events: [
          {
            event_type: 'commerce_event',
            data: {
              ...stamp('evt-1'),
              custom_attributes: { product_id: 'p-1', name: 'Tea', category: 'Drinks', price: 10, currency: 'EUR', page_url },
              currency_code: 'EUR',
              product_action: { action: 'view_detail', products: [{ id: 'p-1', name: 'Tea', category: 'Drinks', price: 10 }] },
            },
          },
        ],
      }),
    },
    { name: 'any other event is a custom event', event: quiz, requests: says(sentQuiz) },
    {
      name: 'a video is media, in a test environment of the EU',
      variant: 'media',
      config: { environment: 'development', region: 's2s.eu1.mparticle.com' },
      event: track('Video Playback Started', {}, { traits: {}, context: {} }),
      requests: [
        {
          url: 'https://s2s.eu1.mparticle.com/v2/bulkevents',
          body: [
            {
              environment: 'development',
              user_identities: ids,
              source_request_id: 'evt-1',
              events: [
                {
                  event_type: 'custom_event',
                  data: { ...stamp('evt-1'), event_name: 'Video Playback Started', custom_event_type: 'media', custom_attributes: {} },
                },
              ],
            },
          ],
        },
      ],
    },
    {
      name: 'a page is a screen view',
      event: pageViewed(),
      requests: says({
        ...web,
        user_identities: ids,
        source_request_id: 'evt-2',
        events: [
          { event_type: 'screen_view', data: { ...stamp('evt-2'), screen_name: 'Home', custom_attributes: { path: '/', page_url } } },
        ],
      }),
    },
    {
      name: 'an app, its device id a UUID',
      event: track(
        'Quiz Taken',
        {},
        {
          traits: {},
          anonymous_id: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11',
          context: {
            app: { name: 'Shop', version: '2', namespace: 'com.shop' },
            os: { name: 'iOS', version: '18' },
            device: { advertising_id: '607258d9-c28b-43ad-95ed-e9593025d5a1', model: 'iPhone16,1' },
          },
        },
      ),
      requests: says({
        environment: 'production',
        user_identities: { customer_id: 'user-1' },
        mp_deviceid: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11',
        device_info: {
          platform: 'iOS',
          os_version: '18',
          device_model: 'iPhone16,1',
          ios_advertising_id: '607258d9-c28b-43ad-95ed-e9593025d5a1',
        },
        application_info: { application_name: 'Shop', application_version: '2', package: 'com.shop' },
        source_request_id: 'evt-1',
        events: [
          {
            event_type: 'custom_event',
            data: { ...stamp('evt-1'), event_name: 'Quiz Taken', custom_event_type: 'other', custom_attributes: {} },
          },
        ],
      }),
    },
    {
      name: 'identify is a batch of attributes without events',
      event: identified({ traits: { plan: 'pro', seats: 5 }, context: {} }),
      requests: says({
        environment: 'production',
        user_identities: ids,
        source_request_id: 'evt-3',
        user_attributes: { plan: 'pro', seats: '5' },
      }),
    },
    {
      name: 'identify names the attributes that outputs match on',
      event: identified({
        traits: {
          firstName: ' Anna ',
          last_name: 'Berg',
          gender: 'female',
          phone: '+49 151 23456789',
          address: { city: 'Bonn', zip: '53111' },
        },
        context: {},
      }),
      requests: [
        {
          contains: {
            '[0].user_attributes.$FirstName': 'Anna',
            '[0].user_attributes.$LastName': 'Berg',
            '[0].user_attributes.last_name': 'Berg',
            '[0].user_attributes.$Gender': 'F',
            '[0].user_attributes.$Mobile': '+4915123456789',
            '[0].user_attributes.$City': 'Bonn',
            '[0].user_attributes.$Zip': '53111',
          },
        },
      ],
    },
    {
      name: 'an iOS device without an advertising id',
      event: appEvent({ os: { name: 'iOS' }, device: { id: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11', adTrackingEnabled: false } }),
      requests: deviceInfo({ platform: 'iOS', ios_idfv: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11', att_authorization_status: 'denied' }),
    },
    {
      name: 'an Android device without an advertising id',
      event: appEvent({ os: { name: 'Android' }, device: { id: 'a1b2c3d4e5f60718', ad_tracking_enabled: false } }),
      requests: deviceInfo({ platform: 'Android', android_uuid: 'a1b2c3d4e5f60718', limit_ad_tracking: true }),
    },
    {
      name: 'a group is an attribute',
      // Address and number in the traits are those of the group.
      event: grouped({ context: {}, traits: { name: 'Acme', email: 'info@acme.example', phone: '+49301234567' } }),
      requests: says({
        environment: 'production',
        user_identities: ids,
        source_request_id: 'evt-4',
        user_attributes: { group_id: 'acme', group_name: 'Acme' },
      }),
    },
    {
      name: 'an order without an id',
      event: orderCompleted({ order_id: null }),
      dropped: 'missing_required:events[0].data.product_action.transaction_id',
    },
    ...lacking({ 'events[0].data.screen_name': pageViewed({ name: '', context: {} }) }),
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:user_identities.customer_id' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202 }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: {
        status: 400,
        body: { errors: [{ code: 'BAD_REQUEST', message: 'Required event field "event_type" is missing or empty.' }] },
      },
      verdict: { kind: 'refused', reason: 'http_400: Required event field "event_type" is missing or empty.' },
    },
    {
      name: 'one of several is not valid',
      events: [order, quiz],
      reply: { status: 400, body: { errors: [] } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    { name: 'a wrong key', events: [order], reply: { status: 403 }, verdict: { kind: 'refused' } },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '5', 'x-mp-rate-limit-exceeded': 'account' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 5_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
