import { ISOLATED, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { incompleteAddress, requestStatusAnswers } from '../shared/data-manager-cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, TRAITS, track, visitOf } from '../shared/sample-events.ts';
import google from './vendor.ts';

const url = 'https://datamanager.googleapis.com/v1/events:ingest';
const order = orderCompleted();
const visit = visitOf(CONTEXT);
const destinations = [{ operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' }, productDestinationId: '987654321' }];
const happened = { eventTimestamp: '2026-01-02T03:04:05.678Z', eventSource: 'WEB' };
const consent = { adUserData: 'CONSENT_GRANTED', adPersonalization: 'CONSENT_GRANTED' };
const click = { adIdentifiers: { gclid: 'Cj0KCQ' } };

export default vendorCases(
  google,
  [
    incompleteAddress,
    {
      name: 'an order into a Google Ads conversion action',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer access-token' },
          body: {
            destinations,
            encoding: 'HEX',
            validateOnly: false,
            events: [
              {
                ...happened,
                ...click,
                consent,
                transactionId: 'o-1',
                conversionValue: 42.5,
                currency: 'EUR',
                userData: {
                  userIdentifiers: [
                    { emailAddress: HASHED.email },
                    { phoneNumber: HASHED.phone },
                    { address: { givenName: HASHED.first_name, familyName: HASHED.last_name, regionCode: 'US', postalCode: '10001-1234' } },
                  ],
                },
                cartData: {
                  items: [
                    { merchantProductId: 'p-1', quantity: 2, unitPrice: 10 },
                    { merchantProductId: 'S2', quantity: 1, unitPrice: 22.5 },
                  ],
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a Floodlight activity through its configuration; Gmail loses its dots and tag; validation only',
      config: { account_type: 'FLOODLIGHT_CONFIG', account_id: '77', login_account_id: '77', validate_only: true, send_ip: true },
      event: track(
        'Order Completed',
        {},
        {
          traits: { email: 'Cloudy.SanFrancisco+shopping@gmail.com' },
          context: { ip: '203.0.113.7', user_agent: 'UA', click_ids: { dclid: 'd-1' } },
        },
      ),
      requests: [
        {
          body: {
            destinations: [
              {
                operatingAccount: { accountType: 'FLOODLIGHT_CONFIG', accountId: '77' },
                loginAccount: { accountType: 'FLOODLIGHT_CONFIG', accountId: '77' },
                productDestinationId: '987654321',
              },
            ],
            encoding: 'HEX',
            validateOnly: true,
            events: [
              {
                ...happened,
                transactionId: 'evt-1',
                adIdentifiers: { dclid: 'd-1' },
                eventDeviceInfo: { ipAddress: '203.0.113.7', userAgent: 'UA' },
                userData: { userIdentifiers: [{ emailAddress: '223ebda6f6889b1494551ba902d9d381daf2f642bae055888e96343d53e9f9c4' }] },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'titles and generations are no part of a name, as in Google’s own formatter',
      event: orderCompleted({}, { traits: { ...TRAITS, first_name: 'Mrs. Anna', last_name: 'Berg, Jr.' } }),
      requests: [
        {
          contains: {
            'events[0].userData.userIdentifiers[2].address.givenName': HASHED.first_name,
            'events[0].userData.userIdentifiers[2].address.familyName': HASHED.last_name,
          },
        },
      ],
    },
    {
      name: 'an app event and a page view have rows of their own, in one table',
      variant: 'saas',
      config: {
        destinations: [
          { event: 'Trial Started', destination_id: '11' },
          { event: '@page', destination_id: '12' },
        ],
      },
      event: track(
        'Trial Started',
        {},
        { traits: {}, context: { app: { namespace: 'x' }, click_ids: { gbraid: 'g' }, consent: { canonical: { advertising: false } } } },
      ),
      batched: [pageViewed()],
      requests: [
        {
          body: {
            destinations: [{ ...destinations[0], productDestinationId: '11' }],
            encoding: 'HEX',
            validateOnly: false,
            events: [
              {
                ...happened,
                eventSource: 'APP',
                transactionId: 'evt-1',
                adIdentifiers: { gbraid: 'g' },
                consent: { adUserData: 'CONSENT_DENIED', adPersonalization: 'CONSENT_DENIED' },
              },
            ],
          },
        },
        {
          body: {
            destinations: [{ ...destinations[0], productDestinationId: '12' }],
            encoding: 'HEX',
            validateOnly: false,
            events: [{ ...happened, ...click, consent, transactionId: 'evt-2' }],
          },
        },
      ],
    },
    {
      name: 'a batch of one destination',
      event: visit('Order Completed'),
      batched: [visit('Order Completed', { order_id: 'o-2' })],
      requests: [
        {
          body: {
            destinations,
            encoding: 'HEX',
            validateOnly: false,
            events: [
              { ...happened, ...click, consent, transactionId: 'evt-1' },
              { ...happened, ...click, consent, transactionId: 'o-2' },
            ],
          },
        },
      ],
    },
    { name: 'nobody to match', event: bare('Order Completed'), dropped: 'missing_required:adIdentifiers.gclid' },
    { name: 'an event without a destination', event: track('Signed Up'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    {
      name: 'accepted as a job',
      events: [order],
      reply: { status: 200, body: { requestId: 'r-1' } },
      verdict: { kind: 'accepted', job: 'r-1' } as never,
    },
    ...requestStatusAnswers(order),
    {
      name: 'a bad required field among several events',
      events: [order, order],
      reply: { status: 400, body: { error: { status: 'INVALID_ARGUMENT', message: 'no' } } },
      verdict: ISOLATED,
    },
    {
      name: 'a bad event',
      events: [order],
      reply: { status: 400, body: { error: { message: 'no' } } },
      verdict: { kind: 'refused', reason: 'http_400: no' },
    },
    {
      name: 'quota',
      events: [order],
      reply: { status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED' } } },
      verdict: { kind: 'unavailable' },
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
