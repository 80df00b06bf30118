import { temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, identified, orderCompleted, track } from '../shared/sample-events.ts';
import impact from './vendor.ts';

const url = 'https://api.impact.com/Advertisers/IRexampleSid1234567890/Conversions';
const context = { ...CONTEXT, click_ids: { irclickid: 'click-1' } };
const order = orderCompleted({ discount: 4 }, { context });
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const base = { CampaignId: '1000', EventDate: '2026-01-02T03:04:05.678Z' };

export default vendorCases(
  impact,
  [
    {
      name: 'an address that was left blank',
      event: {
        ...bare('Order Completed', { order_id: 'o-1', total: 5, currency: 'EUR' }),
        ...{ traits: { address: { city: '', state: ' ', postal_code: '' } }, context: { click_ids: { irclickid: 'click-1' } } },
      },
      requests: [
        {
          body: form({
            ...{ ...base, OrderId: 'o-1', ClickId: 'click-1', CurrencyCode: 'EUR' },
            ...{ OrderSubTotalPostDiscount: '5', EventTypeId: '20456' },
          }),
        },
      ],
    },
    {
      name: 'an order with numbered items, and the e-mail address as SHA-1',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: {
            Authorization: 'Basic SVJleGFtcGxlU2lkMTIzNDU2Nzg5MDpleGFtcGxlQXV0aFRva2VuMDEyMzQ1Njc4OQ==',
            'Content-Type': 'application/x-www-form-urlencoded',
          },
          body: form({
            ...base,
            OrderId: 'o-1',
            ClickId: 'click-1',
            CustomerId: 'user-1',
            CustomerEmail: 'b5e97f498856c416c5cd38ce3b4563d7b8637bba',
            CustomerCity: 'New York',
            CustomerRegion: 'New York',
            CustomerPostCode: '10001-1234',
            CustomerCountry: 'US',
            IpAddress: '203.0.113.7',
            UserAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
            TrackingConsent: 'true',
            CurrencyCode: 'EUR',
            OrderDiscount: '4',
            OrderShipping: '2.5',
            OrderTax: '5',
            OrderPromoCode: 'TEA10',
            EventTypeId: '20456',
            ItemSku1: 'p-1',
            ItemName1: 'Tea',
            ItemCategory1: 'Drinks',
            ItemPrice1: '10',
            ItemQuantity1: '2',
            ItemSku2: 'S2',
            ItemName2: 'Cup',
            ItemPrice2: '22.5',
            ItemQuantity2: '1',
          }),
        },
      ],
    },
    {
      name: 'an order without items has a subtotal net of its discount; im_ref is a click id too',
      event: track(
        'Order Completed',
        { order_id: 'o-2', revenue: 35, discount: 4, currency: 'USD' },
        { user_id: 'u', traits: {}, context: { click_ids: { im_ref: 'click-2' } } },
      ),
      requests: [
        {
          body: form({
            ...base,
            OrderId: 'o-2',
            ClickId: 'click-2',
            CustomerId: 'u',
            CurrencyCode: 'USD',
            OrderSubTotalPostDiscount: '35',
            EventTypeId: '20456',
          }),
        },
      ],
    },
    {
      name: 'a lead through the table',
      variant: 'saas',
      config: { event_types: [{ event: 'Demo Requested', event_type_id: '7' }] },
      event: track('Demo Requested', {}, { user_id: 'u', traits: {}, context }),
      requests: [
        {
          body: form({
            ...base,
            OrderId: 'evt-1',
            ClickId: 'click-1',
            CustomerId: 'u',
            IpAddress: '203.0.113.7',
            UserAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
            TrackingConsent: 'true',
            EventTypeId: '7',
          }),
        },
      ],
    },
    {
      name: 'an order without a currency',
      event: track('Order Completed', { order_id: 'o-1' }, { context }),
      dropped: 'missing_required:CurrencyCode',
    },
    {
      name: 'an app event by its device',
      event: {
        ...bare('Order Completed', { order_id: 'o-2', currency: 'EUR', subtotal: 5 }),
        context: { os: { name: 'iOS' }, device: { id: 'IDFV-1', advertising_id: 'IDFA-1' } },
      },
      requests: [
        {
          body: form({
            ...base,
            OrderId: 'o-2',
            AppleIfa: 'IDFA-1',
            AppleIfv: 'IDFV-1',
            CurrencyCode: 'EUR',
            OrderSubTotalPostDiscount: '5',
            EventTypeId: '20456',
          }),
        },
      ],
    },
    {
      name: 'an e-mail address alone',
      event: { ...bare('Order Completed', { currency: 'EUR' }), traits: { email: 'anna.berg@example.com' } },
      dropped: 'missing_required:ClickId',
    },
    {
      name: 'an order whose products have no prices',
      event: orderCompleted(
        { discount: 4, products: [{ product_id: 'p-1', quantity: 2 }, { product_id: 'p-2' }] },
        { traits: {}, context },
      ),
      requests: [
        {
          body: form({
            ...base,
            OrderId: 'o-1',
            ClickId: 'click-1',
            CustomerId: 'user-1',
            IpAddress: '203.0.113.7',
            UserAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
            TrackingConsent: 'true',
            CurrencyCode: 'EUR',
            OrderShipping: '2.5',
            OrderTax: '5',
            OrderPromoCode: 'TEA10',
            OrderSubTotalPostDiscount: '35',
            EventTypeId: '20456',
          }),
        },
      ],
    },
    { name: 'nobody to credit', event: bare('Order Completed', { currency: 'EUR' }), dropped: 'missing_required:ClickId' },
    { name: 'an event without a type', event: track('Signed Up', {}, { context }), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    {
      name: 'queued',
      events: [order],
      reply: { status: 200, body: { Status: 'QUEUED', QueuedUri: '/Advertisers/x/APISubmissions/1' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { Status: 'ERROR', errors: [{ field: 'OrderId', level: 'ERROR', message: 'OrderId is required' }] } },
      verdict: { kind: 'refused', reason: 'http_400: OrderId is required' },
    },
    {
      name: 'a bad token',
      events: [order],
      reply: { status: 401, body: { Message: 'Unauthorized' } },
      verdict: { kind: 'refused', reason: 'http_401: Unauthorized' },
    },
    ...temporaryAnswers(order),
  ],
);
