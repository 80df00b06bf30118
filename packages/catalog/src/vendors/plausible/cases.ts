import { vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import plausible from './vendor.ts';

const order = orderCompleted();
const headers = { 'User-Agent': String(CONTEXT.user_agent), 'X-Forwarded-For': '203.0.113.7', 'Content-Type': 'application/json' };
const page = { domain: 'shop.example', url: 'https://shop.example/checkout?x=1', referrer: 'https://www.example.org/' };
const says = (body: object) => [{ method: 'POST', url: 'https://plausible.io/api/event', headers, body: { ...page, ...body } }];

export default vendorCases(
  plausible,
  [
    {
      name: 'an order with its revenue, and without its nested products',
      event: order,
      requests: says({
        name: 'Purchase',
        revenue: { amount: 42.5, currency: 'EUR' },
        props: { order_id: 'o-1', total: 42.5, revenue: 35, tax: 5, shipping: 2.5, currency: 'eur', coupon: 'TEA10' },
      }),
    },
    { name: 'a page', event: pageViewed(), requests: says({ name: 'pageview', props: { path: '/' } }) },
    {
      name: 'any other event',
      variant: 'saas',
      event: track('Quiz Taken', { score: 3 }),
      requests: says({ name: 'Quiz Taken', props: { score: 3 } }),
    },
    {
      name: 'at most 30 properties',
      event: track('Quiz Taken', Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`p${index}`, index]))),
      requests: says({ name: 'Quiz Taken', props: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, index])) }),
    },
    {
      name: 'a long text of characters with three bytes each: at most 2,000 bytes',
      event: track('Quiz Taken', { answer: '茶'.repeat(1_000) }),
      requests: says({ name: 'Quiz Taken', props: { answer: '茶'.repeat(666) } }),
    },
    { name: 'a name that Plausible reserves', event: track('engagement'), dropped: 'mapping_default' },
    { name: 'an event that is too old', event: order, now: '2026-01-02T05:04:05.678Z', dropped: 'event_too_old' },
    {
      name: 'no page',
      event: track('Quiz Taken', {}, { context: { ip: '203.0.113.7', user_agent: 'x' } }),
      dropped: 'missing_required:url',
    },
    {
      name: 'no browser',
      event: track('Quiz Taken', {}, { context: { ip: '203.0.113.7', page: CONTEXT.page ?? null } }),
      dropped: 'missing_required:user_agent',
    },
    {
      name: 'no address of the visitor',
      event: track('Quiz Taken', {}, { context: { user_agent: 'x', page: CONTEXT.page ?? null } }),
      dropped: 'missing_required:ip',
    },
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:url' },
    { name: 'identify has no call', event: identified(), dropped: 'mapping_filter' },
    { name: 'group has no call', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202, body: 'ok' }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { errors: { url: ['is invalid'] } } },
      verdict: { kind: 'refused', reason: 'http_400: {"url":["is invalid"]}' },
    },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 502 }, verdict: { kind: 'unavailable' } },
  ],
);
