import { ISOLATED, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, identified, orderCompleted, track, visitOf } from '../shared/sample-events.ts';
import cm360 from './vendor.ts';

const url = 'https://dfareporting.googleapis.com/dfareporting/v5/userprofiles/437689/conversions/batchinsert';
const order = orderCompleted();
const visit = visitOf(CONTEXT);
const base = {
  floodlightConfigurationId: '1234567',
  floodlightActivityId: '7654321',
  timestampMicros: '1767323045678000',
  ordinal: 'evt-1',
  quantity: '1',
  value: 0,
};
const sent = (...conversions: unknown[]) => [{ url, body: { conversions } }];

export default vendorCases(
  cm360,
  [
    {
      name: 'an order with a Google click id',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer access-token' },
          body: { conversions: [{ ...base, ordinal: 'o-1', value: 42.5, gclid: 'Cj0KCQ', adUserDataConsent: 'GRANTED' }] },
        },
      ],
    },
    {
      name: 'of several ids one: the dclid before the device; tracking limited and consent denied',
      event: track(
        'Order Completed',
        {},
        {
          traits: {},
          context: {
            click_ids: { dclid: 'd-1' },
            device: { advertising_id: 'gaid-1', ad_tracking_enabled: false },
            consent: { canonical: { marketing: false } },
          },
        },
      ),
      requests: sent({ ...base, dclid: 'd-1', limitAdTracking: true, nonPersonalizedAd: true, adUserDataConsent: 'DENIED' }),
    },
    {
      name: 'an app event',
      event: track('Order Completed', {}, { traits: {}, context: { device: { advertising_id: 'gaid-1' } } }),
      requests: sent({ ...base, mobileDeviceId: 'gaid-1' }),
    },
    {
      name: 'a match id, if the customer uses them',
      variant: 'saas',
      config: { send_match_id: true, activities: [{ event: 'Signed Up', activity_id: '9' }] },
      event: track('Signed Up', {}, { traits: {}, context: {} }),
      requests: sent({ ...base, floodlightActivityId: '9', matchId: 'user-1' }),
    },
    {
      name: 'a batch',
      event: visit('Order Completed'),
      batched: [visit('Order Completed', { order_id: 'o-2', total: '9.90' })],
      requests: sent(
        { ...base, gclid: 'Cj0KCQ', adUserDataConsent: 'GRANTED' },
        { ...base, ordinal: 'o-2', value: 9.9, gclid: 'Cj0KCQ', adUserDataConsent: 'GRANTED' },
      ),
    },
    { name: 'nobody to match', event: bare('Order Completed'), dropped: 'missing_required:gclid' },
    { name: 'an event of 29 days', event: order, now: '2026-01-31T04:00:00Z', dropped: 'event_too_old' },
    { name: 'an event without an activity', event: track('Signed Up'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    {
      name: 'accepted',
      events: [order],
      reply: { status: 200, body: { hasFailures: false, status: [{}] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one of two rejected',
      events: [order, order],
      reply: { status: 200, body: { hasFailures: true, status: [{}, { errors: [{ code: 'INVALID_ARGUMENT', message: 'gclid' }] }] } },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused', reason: 'http_200: gclid' }] } as never,
    },
    {
      name: 'an error of theirs',
      events: [order, order],
      reply: { status: 200, body: { hasFailures: true, status: [{}, { errors: [{ code: 'INTERNAL', message: 'again' }] }] } },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'unavailable' }] } as never,
    },
    { name: 'a malformed request', events: [order, order], reply: { status: 400, body: {} }, verdict: ISOLATED },
    {
      name: 'an expired token',
      events: [order],
      reply: { status: 401, body: {} },
      verdict: { kind: 'unavailable', refresh_token: true } as never,
    },
    {
      name: 'quota comes as 403',
      events: [order],
      reply: { status: 403, body: { error: { errors: [{ reason: 'rateLimitExceeded' }] } } },
      verdict: { kind: 'unavailable' },
    },
    {
      name: 'no permission',
      events: [order, order],
      reply: { status: 403, body: { error: { errors: [{ reason: 'forbidden' }] } } },
      verdict: { kind: 'refused' },
    },
    ...temporaryAnswers(order),
  ],
);
