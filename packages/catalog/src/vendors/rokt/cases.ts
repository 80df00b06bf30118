import { named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, track } from '../shared/sample-events.ts';
import rokt from './vendor.ts';

const url = 'https://s2s.us2.mparticle.com/v2/events';
const order = orderCompleted();
const conversion = (attributes: object) => [
  {
    event_type: 'custom_event',
    data: {
      custom_event_type: 'transaction',
      event_name: 'conversion',
      source_message_id: 'evt-1',
      timestamp_unixtime_ms: 1767323045678,
      custom_attributes: { conversionid: 'evt-1', confirmationref: 'evt-1', ...attributes },
    },
  },
];
const device = { ip: '203.0.113.7', device_info: { http_header_user_agent: 'Mozilla/5.0 (X11; Linux x86_64)' } };

export default vendorCases(
  rokt,
  [
    {
      name: 'an order: the e-mail address and attributes as hashes',
      event: { ...order, traits: { ...order.traits, gender: 'F', birthday: '1990-03-07' } },
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Basic dXMyLTAxMjM0NTY3ODlhYmNkZWY6ZXhhbXBsZVNlY3JldDAxMjM0NTY3ODk=' },
          body: {
            environment: 'production',
            user_identities: { customerid: 'user-1', other: HASHED.email },
            user_attributes: {
              firstnamesha256: HASHED.first_name,
              lastnamesha256: HASHED.last_name,
              mobilesha256: '1086cf7b9dc30004d7d3843104ef5fc0c4d1ade50a383cd3b0f0f9030a61bbef', // 15123456789
              billingzipsha256: HASHED.zip,
              gender: 'F',
              dob: '19900307',
            },
            ...device,
            events: conversion({ conversiontype: 'Order Completed', confirmationref: 'o-1', amount: 42.5, currency: 'EUR' }),
          },
        },
      ],
    },
    {
      name: 'an iOS app in development, with Rokt’s click id',
      config: { environment: 'development' },
      event: track(
        'Signed Up',
        {},
        {
          traits: {},
          context: { os: { name: 'iOS' }, device: { id: 'IDFV-1', advertising_id: 'IDFA-1' }, vendor_ids: { rokt_click_id: 'rc-1' } },
        },
      ),
      requests: [
        {
          body: {
            environment: 'development',
            user_identities: { customerid: 'user-1', other2: 'rc-1' },
            integration_attributes: { 1277: { passbackconversiontrackingid: 'rc-1' } },
            device_info: { ios_advertising_id: 'IDFA-1', ios_idfv: 'IDFV-1' },
            events: conversion({ conversiontype: 'Signed Up' }),
          },
        },
      ],
    },
    {
      name: 'the click id of the landing page',
      event: track('Signed Up', {}, { user_id: undefined, traits: {}, context: { click_ids: { rclid: 'rc-2', rtid: 'rt-1' } } } as never),
      requests: [
        {
          body: {
            environment: 'production',
            user_identities: { other2: 'rc-2' },
            integration_attributes: { 1277: { passbackconversiontrackingid: 'rc-2' } },
            events: conversion({ conversiontype: 'Signed Up' }),
          },
        },
      ],
    },
    {
      name: 'an Android app',
      event: track('Signed Up', {}, { traits: {}, context: { os: { name: 'Android' }, device: { id: 'u-1', advertising_id: 'gaid-1' } } }),
      requests: [
        {
          body: {
            environment: 'production',
            user_identities: { customerid: 'user-1' },
            device_info: { android_advertising_id: 'gaid-1', android_uuid: 'u-1' },
            events: conversion({ conversiontype: 'Signed Up' }),
          },
        },
      ],
    },
    ...named(
      [
        ['Product Added', 'Product Added', 'retail'],
        ['Booking Started', 'Booking Started', 'travel'],
        ['Subscription Started', 'Subscription Started', 'media'],
        ['Trial Started', 'Trial Started', 'saas'],
      ],
      (event, conversiontype) => ({
        event: track(event, { total: 5 }, { traits: {}, context: CONTEXT }),
        requests: [
          {
            body: {
              environment: 'production',
              user_identities: { customerid: 'user-1' },
              ...device,
              events: conversion({ conversiontype }),
            },
          },
        ],
      }),
    ),
    { name: 'nobody to match', event: bare('Order Completed'), dropped: 'missing_required:user_identities' },
    { name: 'an event outside of the standard ones', event: track('Quiz Taken'), dropped: 'mapping_default' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202, body: {} }, verdict: { kind: 'delivered' } },
    {
      name: 'accepted, with an error',
      events: [order],
      reply: { status: 202, body: { errors: [{ code: 'VALIDATION', message: 'no' }] } },
      verdict: { kind: 'refused', reason: 'http_202: no' },
    },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { errors: [{ message: 'bad' }] } },
      verdict: { kind: 'refused', reason: 'http_400: bad' },
    },
    { name: 'bad credentials', events: [order], reply: { status: 401, body: {} }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
