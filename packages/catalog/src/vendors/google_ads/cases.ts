import type { JsonObject } from '@firsthand/core/json.ts';
import { lacking, vendorCases } from '../shared/cases.ts';
import { incompleteAddress, requestStatusAnswers } from '../shared/data-manager-cases.ts';
import { bare, grouped, HASHED, orderCompleted, pageViewed, TRAITS, track } from '../shared/sample-events.ts';
import googleAds from './vendor.ts';

const order = orderCompleted();
const ADDRESS = TRAITS.address as JsonObject;
const destination = { operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' }, productDestinationId: '987654321' };
const address = {
  givenName: HASHED.first_name,
  familyName: HASHED.last_name,
  regionCode: 'US',
  postalCode: '10001-1234',
};
const conversion = {
  eventTimestamp: '2026-01-02T03:04:05.678Z',
  transactionId: 'o-1',
  eventSource: 'WEB',
  adIdentifiers: { gclid: 'Cj0KCQ' },
  userData: { userIdentifiers: [{ emailAddress: HASHED.email }, { phoneNumber: HASHED.phone }, { address }] },
  conversionValue: 42.5,
  currency: 'EUR',
  consent: { adUserData: 'CONSENT_GRANTED', adPersonalization: 'CONSENT_GRANTED' },
  cartData: {
    items: [
      { merchantProductId: 'p-1', quantity: 2, unitPrice: 10 },
      { merchantProductId: 'S2', quantity: 1, unitPrice: 22.5 },
    ],
  },
};
const legacy = { variant: 'google_ads_api', config: { developer_token: 'dev' } };
const partialFailure = (...indexes: number[]) => ({
  partialFailureError: {
    code: 3,
    message: 'Multiple errors in request',
    details: [
      {
        errors: indexes.map((index) => ({
          message: 'The click is too old.',
          location: { fieldPathElements: [{ fieldName: 'conversions', index }, { fieldName: 'gclid' }] },
        })),
      },
    ],
  },
});

const adjusted = (fields: object) => ({
  url: 'https://googleads.googleapis.com/v26/customers/1234567890:uploadConversionAdjustments',
  body: {
    partialFailure: true,
    validateOnly: false,
    conversionAdjustments: [
      {
        conversionAction: 'customers/1234567890/conversionActions/987654321',
        adjustmentDateTime: '2026-01-02 03:04:05+00:00',
        orderId: 'o-1',
        ...fields,
      },
    ],
  },
});

export default vendorCases(
  googleAds,
  [
    incompleteAddress,
    {
      name: 'an order through the Data Manager API',
      event: order,
      requests: [
        {
          method: 'POST',
          url: 'https://datamanager.googleapis.com/v1/events:ingest',
          headers: { Authorization: 'Bearer access-token' },
          body: { destinations: [destination], encoding: 'HEX', validateOnly: false, events: [conversion] },
        },
      ],
    },
    {
      name: 'a manager account, and a conversion action of the event’s own; only what is known of the user',
      variant: 'retail',
      config: {
        login_customer_id: '1112223333',
        events: { 'Lead Generated': { enabled: true, vendor_event_name: '555' } },
      },
      event: track(
        'Lead Generated',
        {},
        { traits: { phone: '+49 151 234-56789' }, context: { consent: { canonical: { advertising: false, marketing: true } } } },
      ),
      requests: [
        {
          body: {
            destinations: [
              {
                operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' },
                loginAccount: { accountType: 'GOOGLE_ADS', accountId: '1112223333' },
                productDestinationId: '555',
              },
            ],
            encoding: 'HEX',
            validateOnly: false,
            events: [
              {
                eventTimestamp: '2026-01-02T03:04:05.678Z',
                transactionId: 'evt-1',
                eventSource: 'WEB',
                userData: { userIdentifiers: [{ phoneNumber: HASHED.phone }] },
                consent: { adUserData: 'CONSENT_DENIED', adPersonalization: 'CONSENT_DENIED' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a booking in the travel variant',
      variant: 'travel',
      event: track(
        'Booking Completed',
        { booking_id: 'b-1', total: 99, currency: 'eur' },
        { traits: {}, context: { click_ids: { gclid: 'G1' } } },
      ),
      requests: [
        {
          body: {
            destinations: [destination],
            encoding: 'HEX',
            validateOnly: false,
            events: [
              {
                eventTimestamp: '2026-01-02T03:04:05.678Z',
                transactionId: 'b-1',
                eventSource: 'WEB',
                adIdentifiers: { gclid: 'G1' },
                conversionValue: 99,
                currency: 'EUR',
              },
            ],
          },
        },
      ],
    },
    { name: 'a trial waits for a conversion action', variant: 'saas', event: track('Trial Started'), dropped: 'mapping_filter' },
    {
      name: 'a subscription waits for a conversion action',
      variant: 'media',
      event: track('Subscription Started'),
      dropped: 'mapping_filter',
    },
    {
      name: 'a click conversion through the Google Ads API: of several click ids one, and no identifiers beside that of an iOS click',
      ...legacy,
      event: { ...order, traits: { email: 'A.n.na@gmail.com' }, context: { click_ids: { gbraid: 'g', wbraid: 'w' } } },
      requests: [
        {
          url: 'https://googleads.googleapis.com/v26/customers/1234567890:uploadClickConversions',
          headers: { 'developer-token': 'dev' },
          body: {
            partialFailure: true,
            validateOnly: false,
            conversions: [
              {
                conversionAction: 'customers/1234567890/conversionActions/987654321',
                conversionDateTime: '2026-01-02 03:04:05+00:00',
                orderId: 'o-1',
                gbraid: 'g',
                cartData: {
                  items: [
                    { productId: 'p-1', quantity: 2, unitPrice: 10 },
                    { productId: 'S2', quantity: 1, unitPrice: 22.5 },
                  ],
                },
                conversionValue: 42.5,
                currencyCode: 'EUR',
              },
            ],
          },
        },
      ],
    },
    {
      name: 'identifiers beside a gclid, and without any click, through the Google Ads API',
      ...legacy,
      event: { ...order, traits: { email: 'A.n.na@gmail.com' }, context: { click_ids: { gclid: 'G', gbraid: 'g' } } },
      batched: [{ ...order, traits: { email: 'A.n.na@gmail.com' }, context: {} }],
      requests: [
        {
          contains: {
            'conversions[0].gclid': 'G',
            'conversions[0].gbraid': undefined,
            'conversions[0].userIdentifiers': [{ hashedEmail: '7dad900140d08b66a8e4f0aaeaf8f7dbb33d391f959e963d8fbd392719a11c99' }],
            'conversions[1].userIdentifiers': [{ hashedEmail: '7dad900140d08b66a8e4f0aaeaf8f7dbb33d391f959e963d8fbd392719a11c99' }],
          },
        },
      ],
    },
    {
      name: 'click id: a remembered click; the table enables an event and names its conversion action; an app event',
      config: { conversion_actions: [{ event: 'Lead Generated', conversion_action_id: '7777' }] },
      event: track('Lead Generated', {}, { traits: {}, context: { click_ids: { gclid: 'G1' }, app: { namespace: 'com.shop' } } }),
      requests: [
        {
          body: {
            destinations: [{ operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' }, productDestinationId: '7777' }],
            encoding: 'HEX',
            validateOnly: false,
            events: [
              {
                eventTimestamp: '2026-01-02T03:04:05.678Z',
                transactionId: 'evt-1',
                eventSource: 'APP',
                adIdentifiers: { gclid: 'G1' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'test mode: validation only',
      config: { validate_only: true },
      event: order,
      requests: [{ contains: { validateOnly: true, 'events[0].transactionId': 'o-1' } }],
    },
    {
      name: 'a refund is a retraction without user identifiers, through the Google Ads API',
      ...legacy,
      event: track('Order Refunded', { order_id: 'o-1' }, { traits: { ...TRAITS, address: ADDRESS }, context: {} }),
      requests: [adjusted({ adjustmentType: 'RETRACTION' })],
    },
    {
      name: 'a refund in part restates the value',
      ...legacy,
      event: track('Order Refunded', { order_id: 'o-1', adjusted_value: 30, currency: 'eur' }),
      requests: [adjusted({ adjustmentType: 'RESTATEMENT', restatementValue: { adjustedValue: 30, currencyCode: 'EUR' } })],
    },
    {
      name: 'an event with a conversion action of its own, through the Google Ads API; a Gmail address loses its +tag',
      ...legacy,
      config: { ...legacy.config, events: { 'Order Completed': { vendor_event_name: '555' } } },
      event: { ...order, traits: { email: 'A.n.na+x@gmail.com' }, context: { click_ids: { gclid: 'g' } } },
      requests: [
        {
          body: {
            partialFailure: true,
            validateOnly: false,
            conversions: [
              {
                conversionDateTime: '2026-01-02 03:04:05+00:00',
                orderId: 'o-1',
                gclid: 'g',
                cartData: {
                  items: [
                    { productId: 'p-1', quantity: 2, unitPrice: 10 },
                    { productId: 'S2', quantity: 1, unitPrice: 22.5 },
                  ],
                },
                userIdentifiers: [{ hashedEmail: '7dad900140d08b66a8e4f0aaeaf8f7dbb33d391f959e963d8fbd392719a11c99' }],
                conversionValue: 42.5,
                currencyCode: 'EUR',
                conversionAction: 'customers/1234567890/conversionActions/555',
              },
            ],
          },
        },
      ],
    },
    {
      name: 'nobody to match',
      event: bare('Order Completed', { order_id: 'o', total: 1 }),
      dropped: 'missing_required:adIdentifiers.gclid',
    },
    { name: 'an event without a conversion action is off', event: track('Signed Up'), dropped: 'mapping_filter' },
    ...lacking({ 'adjustment.orderId': track('Order Refunded') }, legacy),
    { name: 'other events', event: track('Custom'), dropped: 'mapping_default' },
    { name: 'a group is no conversion', event: grouped(), dropped: 'mapping_default' },
    { name: 'a screen is no conversion', event: pageViewed({ original_type: 'screen', name: 'Cart' }), dropped: 'mapping_default' },
    {
      name: 'consent: a refusal is passed on',
      event: orderCompleted(
        { products: [] },
        { traits: {}, context: { click_ids: { wbraid: 'W1' }, consent: { canonical: { advertising: false } } } },
      ),
      requests: [
        {
          body: {
            destinations: [destination],
            encoding: 'HEX',
            validateOnly: false,
            events: [
              {
                eventTimestamp: '2026-01-02T03:04:05.678Z',
                transactionId: 'o-1',
                eventSource: 'WEB',
                adIdentifiers: { wbraid: 'W1' },
                conversionValue: 42.5,
                currency: 'EUR',
                consent: { adUserData: 'CONSENT_DENIED', adPersonalization: 'CONSENT_DENIED' },
              },
            ],
          },
        },
      ],
    },
  ],
  [
    {
      name: 'accepted as a job',
      events: [order],
      reply: { status: 200, body: { requestId: 'r' } },
      verdict: { kind: 'accepted', job: 'r' },
    },
    ...requestStatusAnswers(order),
    {
      name: 'an old token',
      events: [order],
      reply: { status: 401 },
      verdict: { kind: 'unavailable', reason: 'http_401', refresh_token: true },
    },
    {
      name: 'quota',
      events: [order],
      reply: { status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED', message: 'quota' } } },
      verdict: { kind: 'unavailable' },
    },
    {
      name: 'one of several does not fit',
      events: [order, order],
      reply: { status: 400, body: { error: { status: 'INVALID_ARGUMENT', message: 'no' } } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'partial failure',
      ...legacy,
      events: [order, order],
      reply: { status: 200, body: partialFailure(1) },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused', reason: 'http_200: The click is too old.' }] },
    },
    {
      name: 'no failure at all',
      ...legacy,
      events: [order],
      reply: { status: 200, body: { results: [{}] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a failure of Google’s own inside a batch',
      ...legacy,
      events: [order, order],
      reply: {
        status: 200,
        body: {
          partialFailureError: {
            code: 13,
            message: 'Internal error encountered.',
            details: [
              {
                errors: [
                  {
                    errorCode: { internalError: 'TRANSIENT_ERROR' },
                    message: 'Please retry.',
                    location: { fieldPathElements: [{ fieldName: 'conversions', index: 1 }] },
                  },
                ],
              },
            ],
          },
        },
      },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'unavailable', reason: 'http_200: Please retry.' }] },
    },
    {
      name: 'a failure that names nobody',
      ...legacy,
      events: [order],
      reply: { status: 200, body: { partialFailureError: { code: 7, message: 'CUSTOMER_NOT_ALLOWLISTED_FOR_THIS_FEATURE' } } },
      verdict: { kind: 'refused' },
    },
  ],
);
