import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, pageViewed, TRAITS, track } from '../shared/sample-events.ts';
import posthog from './vendor.ts';

const url = 'https://us.i.posthog.com/batch/';
const head = { api_key: 'phc_0123456789abcdefghijklmnopqrstuvwxyzABCDEF', historical_migration: false };
const timestamp = '2026-01-02T03:04:05.678Z';
const lib = { $lib: 'firsthand' };
/** Of an event without an address: PostHog must not locate the server that sends it. */
const server = { ...lib, $geoip_disable: true };
const web = {
  $ip: '203.0.113.7',
  $current_url: 'https://shop.example/checkout?x=1',
  $host: 'shop.example',
  $referrer: 'https://www.example.org/',
  $raw_user_agent: CONTEXT.user_agent,
  ...lib,
};
const order = orderCompleted();
const sentOrder = { event: 'Order Completed', distinct_id: 'user-1', timestamp, properties: { ...order.properties, ...web } };
const quiz = track('Quiz Taken', { score: 3 }, { traits: {}, context: {} });
const sentQuiz = { event: 'Quiz Taken', distinct_id: 'user-1', timestamp, properties: { score: 3, ...server } };
const body = (...batch: object[]) => [{ method: 'POST', url, body: { ...head, batch } }];

export default vendorCases(
  posthog,
  [
    { name: 'an order', event: order, requests: body(sentOrder) },
    { name: 'a batch', variant: 'retail', event: order, batched: [quiz], requests: body(sentOrder, sentQuiz) },
    {
      name: 'the EU',
      config: { region: 'eu.i.posthog.com' },
      event: quiz,
      requests: [{ url: 'https://eu.i.posthog.com/batch/', body: { ...head, batch: [sentQuiz] } }],
    },
    {
      name: 'an event id that is a UUID prevents duplicates',
      event: { ...quiz, event_id: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' },
      requests: body({ ...sentQuiz, uuid: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' }),
    },
    {
      name: 'an anonymous visitor has no profile',
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' },
      requests: body({ event: 'Quiz Taken', distinct_id: 'anon-1', timestamp, properties: { $process_person_profile: false, ...server } }),
    },
    {
      name: 'an anonymous visitor has a profile where the customer wants it',
      config: { person_profiles: 'always' },
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' },
      requests: body({ event: 'Quiz Taken', distinct_id: 'anon-1', timestamp, properties: server }),
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: body({
        event: '$pageview',
        distinct_id: 'user-1',
        timestamp,
        properties: { path: '/', page_name: 'Home', title: 'Checkout', ...web },
      }),
    },
    {
      name: 'a screen of an app, and the group of its user',
      event: pageViewed({
        original_type: 'screen',
        context: {
          group_id: 'acme',
          app: { name: 'Shop', version: '2' },
          os: { name: 'iOS', version: '18' },
          campaign: { source: 'news' },
        },
      }),
      requests: body({
        event: '$screen',
        distinct_id: 'user-1',
        timestamp,
        properties: {
          path: '/',
          $screen_name: 'Home',
          $app_name: 'Shop',
          $app_version: '2',
          $os: 'iOS',
          $os_version: '18',
          utm_source: 'news',
          $groups: { company: 'acme' },
          ...server,
        },
      }),
    },
    {
      name: 'identify sets the person and merges the anonymous visitor',
      event: identified(),
      requests: body({
        event: '$identify',
        distinct_id: 'user-1',
        timestamp,
        properties: { ...web, $anon_distinct_id: 'anon-1', $set: TRAITS },
      }),
    },
    {
      name: 'alias',
      event: identified({ original_type: 'alias', traits: {}, context: { previous_id: 'old-1' } }),
      requests: body({ event: '$create_alias', distinct_id: 'user-1', timestamp, properties: { alias: 'old-1', ...server } }),
    },
    {
      name: 'group',
      event: grouped({ context: {} }),
      requests: body({
        event: '$groupidentify',
        distinct_id: 'user-1',
        timestamp,
        properties: { $group_type: 'company', $group_key: 'acme', $group_set: { name: 'Acme' }, ...server },
      }),
    },
    {
      name: 'a group of an anonymous visitor: PostHog would drop it without a profile',
      event: { ...grouped({ context: {} }), user_id: undefined as never },
      requests: body({
        event: '$groupidentify',
        distinct_id: 'anon-1',
        timestamp,
        properties: { $group_type: 'company', $group_key: 'acme', $group_set: { name: 'Acme' }, ...server },
      }),
    },
    {
      name: 'traits of an anonymous visitor: PostHog would drop them without a profile',
      event: { ...identified({ traits: { plan: 'pro' }, context: {} }), user_id: undefined as never },
      requests: body({ event: '$identify', distinct_id: 'anon-1', timestamp, properties: { $set: { plan: 'pro' }, ...server } }),
    },
    ...lacking({ 'properties.alias': { ...identified({ original_type: 'alias', context: {} }), anonymous_id: '' } }),
    ...(
      [
        ['macOS', 'Safari', '17.4.1', 'Mac OS X', 'Safari', 17.4],
        ['iOS', 'Safari', '17.4', 'iOS', 'Mobile Safari', 17.4],
        ['iOS', 'Chrome', '124.0.6367.88', 'iOS', 'Chrome iOS', 124],
        ['iOS', 'Firefox', '125.0', 'iOS', 'Firefox iOS', 125],
        ['Android', 'Samsung Internet for Android', '24.0', 'Android', 'Samsung Internet', 24],
        ['Android', 'Android Browser', '4.0', 'Android', 'Android Mobile', 4],
        ['Windows', 'Microsoft Edge', '124.0.2478.51', 'Windows', 'Microsoft Edge', 124],
        ['Chrome OS', 'Chrome', '124', 'Chrome OS', 'Chrome', 124],
      ] as const
    ).map(([os, browser, version, $os, $browser, $browser_version]) => ({
      name: `${browser} on ${os} in the spelling of the browser library`,
      event: track('Quiz Taken', {}, { context: { os: { name: os }, browser: { name: browser, version } } }),
      requests: [
        {
          contains: {
            'batch[0].properties.$os': $os,
            'batch[0].properties.$browser': $browser,
            'batch[0].properties.$browser_version': $browser_version,
          },
        },
      ],
    })),
    {
      name: 'the type of the device in PostHog’s spelling',
      event: track('Quiz Taken', {}, { context: { device: { type: 'desktop' } } }),
      requests: [{ contains: { 'batch[0].properties.$device_type': 'Desktop' } }],
    },
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:distinct_id' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { status: 1 } }, verdict: { kind: 'delivered' } },
    {
      name: 'over the billing limit',
      events: [order],
      reply: { status: 200, body: { status: 1, quota_limited: ['events'] } },
      verdict: { kind: 'refused', reason: 'http_200: ["events"]' },
    },
    {
      name: 'recordings over their limit do not concern events',
      events: [order],
      reply: { status: 200, body: { status: 1, quota_limited: ['recordings'] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a wrong key',
      events: [order],
      reply: { status: 401, body: { type: 'authentication_error', detail: 'Project API key invalid.' } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'too large together',
      events: [order, order],
      reply: { status: 413 },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    { name: 'rejected', events: [order], reply: { status: 400 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
  ],
);
