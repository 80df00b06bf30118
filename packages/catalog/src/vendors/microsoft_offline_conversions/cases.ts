import { ISOLATED, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, track, visitOf } from '../shared/sample-events.ts';
import microsoft from './vendor.ts';

const url = 'https://campaign.api.bingads.microsoft.com/CampaignManagement/v13/OfflineConversions/Apply';
const context = { ...CONTEXT, click_ids: { msclkid: 'msclk-1' } };
const order = orderCompleted({}, { context });
const visit = visitOf(context);
const ConversionTime = '2026-01-02T03:04:05.678Z';
const goals = (...rows: [event: string, goal: string][]) => ({ conversion_goals: rows.map(([event, goal]) => ({ event, goal })) });

export default vendorCases(
  microsoft,
  [
    {
      name: 'an order by its click ID and its hashed person',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: {
            Authorization: 'Bearer access-token',
            DeveloperToken: '012345679ABCDEFG',
            CustomerAccountId: '123456789',
            CustomerId: '987654321',
          },
          body: {
            OfflineConversions: [
              {
                ConversionName: 'Purchase',
                ConversionTime,
                ConversionValue: 42.5,
                ConversionCurrencyCode: 'EUR',
                MicrosoftClickId: 'msclk-1',
                // annaberg@example.com
                HashedEmailAddress: 'fd4bdd75cb213bc0d4a32542fce9e0ffc56b95ea7a5e60beecea7c6b4fff53d9',
                HashedPhoneNumber: HASHED.phone,
              },
            ],
          },
        },
      ],
    },
    {
      name: 'several goals share a request',
      config: goals(['Lead Generated', 'Lead'], ['Signed Up', 'Registration']),
      event: visit('Lead Generated', { value: 5, currency: 'USD' }),
      batched: [visit('Signed Up')],
      requests: [
        {
          body: {
            OfflineConversions: [
              {
                ConversionName: 'Lead',
                ConversionTime,
                ConversionValue: 5,
                ConversionCurrencyCode: 'USD',
                MicrosoftClickId: 'msclk-1',
              },
              { ConversionName: 'Registration', ConversionTime, MicrosoftClickId: 'msclk-1' },
            ],
          },
        },
      ],
    },
    {
      name: 'an address with accents is hashed without them',
      event: orderCompleted({}, { traits: { email: 'Zoé.Müller+shop@example.com' } }),
      // zoemuller@example.com
      requests: [
        { contains: { 'OfflineConversions[0].HashedEmailAddress': '864de1a4f13c04da7adb7237186b9ed9b06b9d52e23e03ad81fa368769051c62' } },
      ],
    },
    {
      name: 'a value without a currency is not sent',
      event: visit('Order Completed', { total: 9 }),
      requests: [{ body: { OfflineConversions: [{ ConversionName: 'Purchase', ConversionTime, MicrosoftClickId: 'msclk-1' }] } }],
    },
    { name: 'an event without a goal', event: track('Product Added', {}, { context }), dropped: 'mapping_filter' },
    { name: 'nobody to match', event: bare('Order Completed'), dropped: 'missing_required:conversion.MicrosoftClickId' },
    { name: 'an order of 91 days', event: order, now: '2026-04-03T03:04:05Z', dropped: 'event_too_old' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { PartialErrors: [] } }, verdict: { kind: 'delivered' } },
    {
      name: 'one of two rejected',
      events: [order, order],
      reply: {
        status: 200,
        body: { PartialErrors: [{ Index: 1, Code: 5402, ErrorCode: 'OfflineConversionNotFound', Message: 'The goal does not exist.' }] },
      },
      verdict: { kind: 'partial' },
    },
    {
      name: 'token expired',
      events: [order],
      reply: { status: 401, body: { Errors: [{ Message: 'Authentication token expired' }] } },
      verdict: { kind: 'unavailable' },
    },
    {
      name: 'a bad request',
      events: [order],
      reply: { status: 400, body: { Errors: [{ Message: 'Invalid data' }] } },
      verdict: { kind: 'refused', reason: 'http_400: Invalid data' },
    },
    { name: 'a bad request of several', events: [order, order], reply: { status: 400, body: {} }, verdict: ISOLATED },
    {
      name: 'no access to the account',
      events: [order, order],
      reply: { status: 403, body: { Errors: [{ Message: 'No access' }] } },
      verdict: { kind: 'refused', reason: 'http_403: No access' },
    },
    ...temporaryAnswers(order),
  ],
);
