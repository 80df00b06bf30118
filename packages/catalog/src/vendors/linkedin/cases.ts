import { ISOLATED, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import linkedin from './vendor.ts';

const url = 'https://api.linkedin.com/rest/conversionEvents';
const headers = {
  Authorization: 'Bearer AQXexampletoken0123456789',
  'LinkedIn-Version': '202608',
  'X-Restli-Protocol-Version': '2.0.0',
  'X-RestLi-Method': 'BATCH_CREATE',
};
const context = { ...CONTEXT, click_ids: { li_fat_id: 'df5gf5-gh6t7-ph4j7h-fgf6n1' } };
const click = { idType: 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', idValue: 'df5gf5-gh6t7-ph4j7h-fgf6n1' };
const email = { idType: 'SHA256_EMAIL', idValue: HASHED.email };
const happened = { conversion: 'urn:lla:llaPartnerConversion:104012', conversionHappenedAt: 1767323045678, eventId: 'evt-1' };
const order = orderCompleted({}, { context });

export default vendorCases(
  linkedin,
  [
    {
      name: 'an order with a hashed e-mail address, a click id and the company',
      event: { ...order, traits: { ...order.traits, title: 'software engineer', company: { name: 'Acme' } } },
      requests: [
        {
          method: 'POST',
          url,
          headers,
          body: {
            elements: [
              {
                ...happened,
                conversionValue: { currencyCode: 'EUR', amount: '42.5' },
                user: {
                  userIds: [email, click],
                  userInfo: { firstName: 'Anna', lastName: 'Berg', title: 'software engineer', companyName: 'Acme', countryCode: 'US' },
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a name alone: the list of ids is sent empty',
      event: track('Order Completed', {}, { traits: { first_name: 'Anna', last_name: 'Berg' }, context: {} }),
      requests: [{ body: { elements: [{ ...happened, user: { userIds: [], userInfo: { firstName: 'Anna', lastName: 'Berg' } } }] } }],
    },
    {
      name: 'user info without a last name is left out, and so is a value without a currency',
      event: track('Order Completed', { total: 5 }, { traits: { first_name: 'Anna' }, context }),
      requests: [{ body: { elements: [{ ...happened, user: { userIds: [click] } }] } }],
    },
    {
      name: 'other events through the table, in the saas variant and with an OAuth token of an app',
      variant: 'saas',
      config: {
        authentication: 'oauth',
        linkedin_version: '202603',
        conversion_rules: [
          { event: 'Demo Requested', rule_id: '7' },
          { event: '@page', rule_id: '8' },
        ],
      },
      event: track('Demo Requested', {}, { context, traits: {} }),
      requests: [
        {
          headers: { ...headers, Authorization: 'Bearer access-token', 'LinkedIn-Version': '202603' },
          body: { elements: [{ ...happened, conversion: 'urn:lla:llaPartnerConversion:7', user: { userIds: [click] } }] },
        },
      ],
    },
    {
      name: 'a page view through the table',
      config: { conversion_rules: [{ event: '@page', rule_id: '8' }] },
      event: pageViewed({ context }),
      requests: [
        {
          body: {
            elements: [
              {
                conversion: 'urn:lla:llaPartnerConversion:8',
                conversionHappenedAt: 1767323045678,
                eventId: 'evt-2',
                user: { userIds: [click] },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a batch of one rule',
      event: track('Order Completed', {}, { traits: {}, context }),
      batched: [track('Order Completed', {}, { event_id: 'evt-5', traits: {}, context })],
      requests: [
        {
          body: {
            elements: [
              { ...happened, user: { userIds: [click] } },
              { ...happened, eventId: 'evt-5', user: { userIds: [click] } },
            ],
          },
        },
      ],
    },
    { name: 'nobody to match', event: bare('Order Completed'), dropped: 'missing_required:user.userIds[0].idValue' },
    { name: 'an event of 91 days', event: order, now: '2026-04-03T04:00:00Z', dropped: 'event_too_old' },
    { name: 'an event without a rule', event: track('Signed Up'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { elements: [{ status: 201 }] } }, verdict: { kind: 'delivered' } },
    { name: 'created, without a list', events: [order], reply: { status: 201 }, verdict: { kind: 'delivered' } },
    {
      name: 'one of two rejected',
      events: [order, order],
      reply: { status: 200, body: { elements: [{ status: 201 }, { status: 422, error: { message: 'too old' } }] } },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused' }] } as never,
    },
    {
      name: 'a bad element among several',
      events: [order, order],
      reply: { status: 422, body: { message: 'elements[1] is invalid' } },
      verdict: ISOLATED,
    },
    {
      name: 'a bad element',
      events: [order],
      reply: { status: 400, body: { message: 'no' } },
      verdict: { kind: 'refused', reason: 'http_400: no' },
    },
    {
      name: 'an expired token is refreshed',
      config: { authentication: 'oauth' },
      events: [order],
      reply: { status: 401, body: { code: 'EXPIRED_ACCESS_TOKEN' } },
      verdict: { kind: 'unavailable', refresh_token: true } as never,
    },
    {
      name: 'an expired token without OAuth',
      events: [order],
      reply: { status: 401, body: { code: 'EXPIRED_ACCESS_TOKEN' } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'a revoked token, which no refresh brings back',
      config: { authentication: 'oauth' },
      events: [order],
      reply: { status: 401, body: { code: 'REVOKED_ACCESS_TOKEN' } },
      verdict: { kind: 'refused' },
    },
    { name: 'no permission', events: [order, order], reply: { status: 403, body: {} }, verdict: { kind: 'refused' } },
    {
      name: 'a version that has ended',
      events: [order, order],
      reply: { status: 426, body: { message: 'version 202511 is not active' } },
      verdict: { kind: 'refused' },
    },
    ...temporaryAnswers(order),
  ],
);
