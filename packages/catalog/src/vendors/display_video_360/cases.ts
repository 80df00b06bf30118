import { ISOLATED, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { incompleteAddress, requestStatusAnswers } from '../shared/data-manager-cases.ts';
import { bare, HASHED, identified, orderCompleted, TRAITS, track } from '../shared/sample-events.ts';
import dv360 from './vendor.ts';

const url = 'https://datamanager.googleapis.com/v1/events:ingest';
const account = { accountType: 'FLOODLIGHT_CONFIG', accountId: '1234567' };
const head = {
  destinations: [{ operatingAccount: account, loginAccount: account, productDestinationId: '7654321' }],
  encoding: 'HEX',
  validateOnly: false,
};
const happened = { eventTimestamp: '2026-01-02T03:04:05.678Z', eventSource: 'WEB' };
const order = orderCompleted(
  {},
  { traits: { email: 'anna.berg@example.com' }, context: { click_ids: { dclid: 'd-1' }, user_agent: 'UA', ip: '203.0.113.7' } },
);

export default vendorCases(
  dv360,
  [
    incompleteAddress,
    {
      name: 'an order into a Floodlight activity, without the IP address',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          body: {
            ...head,
            events: [
              {
                ...happened,
                transactionId: 'o-1',
                adIdentifiers: { dclid: 'd-1' },
                eventDeviceInfo: { userAgent: 'UA' },
                userData: { userIdentifiers: [{ emailAddress: HASHED.email }] },
                conversionValue: 42.5,
                currency: 'EUR',
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
      name: 'an app event with the device’s advertising id; a batch',
      event: track('Order Completed', {}, { traits: {}, context: { device: { advertising_id: 'gaid-1' } } }),
      batched: [track('Order Completed', {}, { traits: { phone: '+49 151 234-56789' }, context: {} })],
      requests: [
        {
          body: {
            ...head,
            events: [
              { ...happened, eventSource: 'APP', transactionId: 'evt-1', adIdentifiers: { mobileDeviceId: 'gaid-1' } },
              { ...happened, transactionId: 'evt-1', userData: { userIdentifiers: [{ phoneNumber: HASHED.phone }] } },
            ],
          },
        },
      ],
    },
    {
      name: 'a person with an address',
      event: track('Order Completed', {}, { traits: { ...TRAITS, email: '', phone: '' }, context: {} }),
      requests: [
        {
          body: {
            ...head,
            events: [
              {
                ...happened,
                transactionId: 'evt-1',
                userData: {
                  userIdentifiers: [
                    {
                      address: {
                        givenName: HASHED.first_name,
                        familyName: HASHED.last_name,
                        regionCode: 'US',
                        postalCode: '10001-1234',
                      },
                    },
                  ],
                },
              },
            ],
          },
        },
      ],
    },
    { name: 'nobody to match', event: bare('Order Completed'), dropped: 'missing_required:adIdentifiers.gclid' },
    { name: 'an event without an activity', event: track('Signed Up'), dropped: 'mapping_filter' },
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
      name: 'a bad event among several',
      events: [order, order],
      reply: { status: 400, body: { error: { message: 'no' } } },
      verdict: ISOLATED,
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
