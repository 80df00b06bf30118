/** Cases that every vendor with calls of the Segment specification shares. */
import type { VendorCase } from './cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, pageViewed, TRAITS, track } from './sample-events.ts';

const order = orderCompleted();
const ids = { timestamp: '2026-01-02T03:04:05.678Z', userId: 'user-1', anonymousId: 'anon-1' };
const web = { ip: '203.0.113.7', userAgent: CONTEXT.user_agent, locale: 'de-DE', page: CONTEXT.page, library: { name: 'firsthand' } };

export const NO_PREVIOUS_ID: VendorCase = {
  name: 'an alias of nobody',
  event: { ...identified({ original_type: 'alias', context: {} }), anonymous_id: '' },
  dropped: 'missing_required:previousId',
};

const NO_USER_ID: VendorCase = {
  name: 'an alias without the id of the user',
  event: identified({ original_type: 'alias', user_id: undefined as never, context: { previous_id: 'old-1' } }),
  dropped: 'missing_required:userId',
};

/** `context: false` for vendors that read one context for the whole batch. */
export function specCases(url: string, headers: Record<string, string>, { context = true } = {}): VendorCase[] {
  const about = (more: object) => (context ? { context: { ...web, ...more } } : {});
  const call = (body: object) => [{ method: 'POST', url, headers, body: { batch: [body] } }];
  const sent = {
    order: {
      type: 'track',
      event: 'Order Completed',
      messageId: 'evt-1',
      ...ids,
      properties: order.properties,
      ...about({ traits: TRAITS }),
    },
    page: { type: 'page', name: 'Home', messageId: 'evt-2', ...ids, properties: { path: '/', ...(CONTEXT.page as object) }, ...about({}) },
  };
  return [
    { name: 'a track call', event: order, requests: call(sent.order) },
    { name: 'a batch', event: order, batched: [pageViewed()], requests: [{ url, body: { batch: [sent.order, sent.page] } }] },
    {
      name: 'an event of no standard keeps its name',
      event: track('Quiz Taken', { score: 3 }, { traits: {}, context: {} }),
      requests: call({
        type: 'track',
        event: 'Quiz Taken',
        messageId: 'evt-1',
        ...ids,
        properties: { score: 3 },
        ...(context ? { context: { traits: {}, library: web.library } } : {}),
      }),
    },
    {
      name: 'a name that the customer chose',
      variant: 'retail',
      config: { events: { 'Order Completed': { vendor_event_name: 'order_completed' } } },
      event: order,
      requests: call({ ...sent.order, event: 'order_completed' }),
    },
    { name: 'a page call', event: pageViewed(), requests: call(sent.page) },
    {
      name: 'a page call that describes its page itself',
      event: pageViewed({ properties: { url: 'https://shop.example/own', title: 'Own' } }),
      requests: call({
        ...sent.page,
        properties: { url: 'https://shop.example/own', title: 'Own', referrer: 'https://www.example.org/' },
      }),
    },
    {
      name: 'a screen call of an app',
      event: pageViewed({
        original_type: 'screen',
        context: { app: { name: 'Shop', version: '2', namespace: 'com.shop' }, device: { id: 'd-1', advertising_id: 'ad-1', type: 'ios' } },
      }),
      requests: call({
        ...sent.page,
        type: 'screen',
        properties: { path: '/' },
        ...(context
          ? {
              context: {
                app: { name: 'Shop', version: '2', namespace: 'com.shop' },
                device: { id: 'd-1', advertisingId: 'ad-1', type: 'ios' },
                library: web.library,
              },
            }
          : {}),
      }),
    },
    {
      name: 'an identify call',
      event: identified(),
      requests: call({ type: 'identify', messageId: 'evt-3', ...ids, traits: TRAITS, ...about({}) }),
    },
    {
      name: 'a group call',
      event: grouped(),
      requests: call({ type: 'group', messageId: 'evt-4', ...ids, groupId: 'acme', traits: { name: 'Acme' }, ...about({}) }),
    },
    {
      name: 'an alias call',
      event: identified({ original_type: 'alias', traits: {}, context: { previous_id: 'old-1' } }),
      requests: call({
        type: 'alias',
        messageId: 'evt-3',
        timestamp: ids.timestamp,
        userId: 'user-1',
        previousId: 'old-1',
        ...(context ? { context: { library: web.library } } : {}),
      }),
    },
    NO_PREVIOUS_ID,
    NO_USER_ID,
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:userId' },
  ];
}
