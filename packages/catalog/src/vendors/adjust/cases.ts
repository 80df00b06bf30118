import { temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, identified, orderCompleted, track } from '../shared/sample-events.ts';
import adjust from './vendor.ts';

const url = 'https://s2s.adjust.com/event';
const ios = {
  os: { name: 'iOS' },
  device: { id: 'idfv-1', advertising_id: 'd2cadb5f-410f-4963-ac0c-2a78534bdf1e' },
  ip: '203.0.113.7',
  user_agent: 'Shop/2.1',
};
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const base = { s2s: '1', app_token: '4w565xzmb54d', environment: 'production', created_at_unix: '1767323045' };
const order = orderCompleted({ products: [] }, { context: ios });

export default vendorCases(
  adjust,
  [
    {
      name: 'a purchase on iOS, with its ids in capitals and its revenue; properties are callback parameters',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
          body: form({
            ...base,
            idfa: 'D2CADB5F-410F-4963-AC0C-2A78534BDF1E',
            idfv: 'IDFV-1',
            ip_address: '203.0.113.7',
            user_agent: 'Shop/2.1',
            callback_params:
              '{"order_id":"o-1","total":"42.5","revenue":"35","tax":"5","shipping":"2.5","currency":"eur","coupon":"TEA10","event_id":"evt-1","user_id":"user-1"}',
            revenue: '42.5',
            currency: 'EUR',
            event_token: 'f0ob4r',
          }),
        },
      ],
    },
    {
      name: 'Android in the sandbox with S2S security: the Android ID in lower case without hyphens',
      config: {
        environment: 'sandbox',
        s2s_security: 'on',
        s2s_token: 'xjdbvcx3n2lm1example',
        event_tokens: [{ event: 'Signed Up', event_token: 'abc123' }],
      },
      event: track(
        'Signed Up',
        {},
        { user_id: 'u', context: { os: { name: 'Android' }, device: { id: 'AB-CD', advertising_id: 'GAID-1' } } },
      ),
      requests: [
        {
          url,
          headers: { Authorization: 'Bearer xjdbvcx3n2lm1example' },
          body: form({
            ...base,
            environment: 'sandbox',
            gps_adid: 'gaid-1',
            android_id: 'abcd',
            callback_params: '{"event_id":"evt-1","user_id":"u"}',
            event_token: 'abc123',
          }),
        },
      ],
    },
    {
      name: 'the device ID of Adjust; an IPv6 address is left out',
      event: track(
        'Order Completed',
        {},
        { user_id: 'u', context: { ip: '2001:db8::1', vendor_ids: { adjust_adid: '18546f6171f67e29d1cb983322ad1329' } } },
      ),
      requests: [
        {
          body: form({
            ...base,
            adid: '18546f6171f67e29d1cb983322ad1329',
            callback_params: '{"event_id":"evt-1","user_id":"u"}',
            event_token: 'f0ob4r',
          }),
        },
      ],
    },
    {
      name: 'revenue without a currency is left out',
      event: track('Order Completed', { total: 5 }, { user_id: 'u', context: { vendor_ids: { adjust_web_uuid: 'w-1' } } }),
      requests: [
        {
          body: form({
            ...base,
            web_uuid: 'w-1',
            callback_params: '{"total":"5","event_id":"evt-1","user_id":"u"}',
            event_token: 'f0ob4r',
          }),
        },
      ],
    },
    { name: 'no device', event: bare('Order Completed'), dropped: 'missing_required:idfa' },
    { name: 'an event without a token', event: track('Signed Up', {}, { context: ios }), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'recorded', events: [order], reply: { status: 200, body: 'OK' }, verdict: { kind: 'delivered' } },
    {
      name: 'recorded before',
      events: [order],
      reply: { status: 400, body: { error: 'Event request failed (Ignoring event, earlier unique event tracked)' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a wrong event token',
      events: [order],
      reply: { status: 400, body: { error: 'Event request failed (Invalid event token)' } },
      verdict: { kind: 'refused', reason: 'http_400: Event request failed (Invalid event token)' },
    },
    {
      name: 'a missing security token',
      events: [order],
      reply: { status: 401, body: { error: 'Failed to authorize request' } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'an unknown device',
      events: [order],
      reply: { status: 404, body: { error: 'Device not found' } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'a device that opted out',
      events: [order],
      reply: { status: 451, body: { error: 'Device is opted out' } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'throttled, with a message',
      events: [order],
      reply: { status: 429, body: { error: 'Too many requests' } },
      verdict: { kind: 'unavailable' },
    },
    ...temporaryAnswers(order),
  ],
);
