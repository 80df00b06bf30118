import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import snowplow from './vendor.ts';

const url = 'https://collector.example.com/com.snowplowanalytics.snowplow/tp2';
const schema = 'iglu:com.snowplowanalytics.snowplow/payload_data/jsonschema/1-0-4';
const says = (...data: object[]) => [{ method: 'POST', url, headers: { 'Content-Type': 'application/json' }, body: { schema, data } }];
const ids = { tv: 'firsthand-1', aid: 'shop', dtm: '1767323045678', ttm: '1767323045678', uid: 'user-1', duid: 'anon-1' };
const web = {
  ...ids,
  p: 'web',
  ip: '203.0.113.7',
  ua: CONTEXT.user_agent,
  url: 'https://shop.example/checkout?x=1',
  page: 'Checkout',
  refr: 'https://www.example.org/',
  lang: 'de-DE',
};
const ecommerce = (name: string, version = '1-0-0') => `iglu:com.snowplowanalytics.snowplow.ecommerce/${name}/jsonschema/${version}`;
const ue = (data: object) =>
  JSON.stringify({
    schema: 'iglu:com.snowplowanalytics.snowplow/unstruct_event/jsonschema/1-0-0',
    data: { schema: ecommerce('snowplow_ecommerce_action', '1-0-2'), data },
  });
const co = (...data: object[]) => JSON.stringify({ schema: 'iglu:com.snowplowanalytics.snowplow/contexts/jsonschema/1-0-0', data });
const product = (data: object) => ({ schema: ecommerce('product'), data });
const tea = product({
  id: 'p-1',
  name: 'Tea',
  category: 'Drinks',
  price: 10,
  quantity: 2,
  variant: 'green',
  brand: 'Leaf',
  position: 1,
  currency: 'EUR',
});
const cup = product({ id: 'S2', name: 'Cup', category: 'unknown', price: 22.5, currency: 'EUR' });
/** Inside a list the constant comes last. */
const listed = ({ schema, data }: ReturnType<typeof product>) => ({ data, schema });
const order = orderCompleted();
const quiz = track('Quiz Taken', { label: 'Tea', value: 3 }, { context: {} });
const sentQuiz = {
  ...ids,
  p: 'srv',
  e: 'se',
  se_ca: 'firsthand',
  se_ac: 'Quiz Taken',
  se_la: 'Tea',
  se_pr: '{"label":"Tea","value":3}',
  se_va: '3',
};

export default vendorCases(
  snowplow,
  [
    {
      name: 'an order with its transaction and its products',
      event: order,
      requests: says({
        ...web,
        e: 'ue',
        ue_pr: ue({ type: 'transaction' }),
        co: co(
          {
            schema: ecommerce('transaction'),
            data: {
              transaction_id: 'o-1',
              revenue: 42.5,
              currency: 'EUR',
              payment_method: 'unknown',
              total_quantity: 3,
              tax: 5,
              shipping: 2.5,
              discount_code: 'TEA10',
            },
          },
          listed(tea),
          listed(cup),
        ),
      }),
    },
    {
      name: 'a product view',
      variant: 'retail',
      event: productViewed(),
      requests: says({
        ...web,
        e: 'ue',
        ue_pr: ue({ type: 'product_view' }),
        co: co(product({ id: 'p-1', name: 'Tea', category: 'Drinks', price: 10, currency: 'EUR' })),
      }),
    },
    {
      name: 'a refund',
      event: track('Order Refunded', { order_id: 'o-1', total: 10, currency: 'EUR', reason: 'broken' }),
      requests: says({
        ...web,
        e: 'ue',
        ue_pr: ue({ type: 'refund' }),
        co: co({
          schema: ecommerce('refund'),
          data: { transaction_id: 'o-1', refund_amount: 10, currency: 'EUR', refund_reason: 'broken' },
        }),
      }),
    },
    {
      name: 'a refund that the shop writes with a minus',
      event: track('Order Refunded', { order_id: 'o-1', total: -10, currency: 'EUR' }),
      requests: says({
        ...web,
        e: 'ue',
        ue_pr: ue({ type: 'refund' }),
        co: co({ schema: ecommerce('refund'), data: { transaction_id: 'o-1', refund_amount: 10, currency: 'EUR' } }),
      }),
    },
    {
      name: 'an order with a discount and a negative line',
      event: track('Order Completed', {
        ...{ order_id: 'o-1', total: 5, currency: 'EUR', discount: -5, tax: -1 },
        products: [
          { product_id: 'p-1', price: 10 },
          { product_id: 'coupon', price: -5, quantity: 1 },
        ],
      }),
      requests: says({
        ...web,
        e: 'ue',
        ue_pr: ue({ type: 'transaction' }),
        co: co(
          {
            schema: ecommerce('transaction'),
            data: {
              ...{ transaction_id: 'o-1', revenue: 5, currency: 'EUR', payment_method: 'unknown' },
              ...{ total_quantity: 2, discount_amount: 5 },
            },
          },
          listed(product({ id: 'p-1', category: 'unknown', price: 10, currency: 'EUR' })),
          listed(product({ id: 'coupon', category: 'unknown', price: 0, quantity: 1, currency: 'EUR' })),
        ),
      }),
    },
    {
      name: 'an order below zero',
      event: track('Order Completed', { order_id: 'o-1', total: -5, currency: 'EUR' }),
      dropped: 'missing_required:co.data[0][0].data.revenue',
    },
    {
      name: 'a step of the checkout',
      event: track('Checkout Step Viewed', { step: 2, shipping_method: 'express' }),
      requests: says({
        ...web,
        e: 'ue',
        ue_pr: ue({ type: 'checkout_step' }),
        co: co({ schema: ecommerce('checkout_step'), data: { step: 2, delivery_method: 'express' } }),
      }),
    },
    { name: 'a page', event: pageViewed(), requests: says({ ...web, e: 'pv' }) },
    { name: 'any other event is a structured one', event: quiz, requests: says(sentQuiz) },
    { name: 'a batch', event: quiz, batched: [pageViewed()], requests: says(sentQuiz, { ...web, e: 'pv' }) },
    {
      name: 'a screen of an app, with its session',
      event: pageViewed({
        original_type: 'screen',
        event_id: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11',
        context: {
          app: { namespace: 'com.shop' },
          session: { id: '5f1a7c1e-2b4d-4c6f-8a3e-9d0b1c2d3e4f', number: 4 },
          screen: { width: 390, height: 844 },
          timezone: 'Europe/Berlin',
        },
      }),
      requests: says({
        ...ids,
        p: 'mob',
        eid: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11',
        sid: '5f1a7c1e-2b4d-4c6f-8a3e-9d0b1c2d3e4f',
        vid: '4',
        res: '390x844',
        tz: 'Europe/Berlin',
        e: 'se',
        se_ca: 'firsthand',
        se_ac: 'Screen Viewed',
        se_la: 'Home',
        se_pr: '{"path":"/"}',
      }),
    },
    {
      name: 'a session id that is no UUID is left out',
      event: track('Quiz Taken', { label: 'Tea', value: 3 }, { context: { session: { id: 's-1', number: 4 } } }),
      requests: says({ ...sentQuiz, vid: '4' }),
    },
    {
      name: 'an order without an id',
      event: orderCompleted({ order_id: null }),
      dropped: 'missing_required:co.data[0][0].data.transaction_id',
    },
    {
      name: 'an order without a currency',
      event: orderCompleted({ currency: null }),
      dropped: 'missing_required:co.data[1][*].data.currency',
    },
    {
      name: 'texts that are too long for their column are cut',
      event: track(
        'Quiz Taken',
        { label: 'x'.repeat(5_000) },
        { anonymous_id: 'a'.repeat(200), context: { user_agent: 'u'.repeat(1_200), page: { title: 't'.repeat(2_100) } } },
      ),
      requests: says({
        ...ids,
        duid: 'a'.repeat(128),
        p: 'web',
        ua: 'u'.repeat(1_000),
        page: 't'.repeat(2_000),
        e: 'se',
        se_ca: 'firsthand',
        se_ac: 'Quiz Taken',
        se_la: 'x'.repeat(4_096),
        se_pr: `{"label":"${'x'.repeat(990)}`,
      }),
    },
    {
      name: 'a text that is too long is cut',
      event: track('Checkout Step Viewed', { step: 2, shipping_method: 'x'.repeat(200) }),
      requests: says({
        ...web,
        e: 'ue',
        ue_pr: ue({ type: 'checkout_step' }),
        co: co({ schema: ecommerce('checkout_step'), data: { step: 2, delivery_method: 'x'.repeat(128) } }),
      }),
    },
    {
      name: 'a listed product without an id is unknown',
      event: track('Product List Viewed', { currency: 'EUR', products: [{ name: 'Tea', price: 10 }] }),
      requests: says({
        ...web,
        e: 'ue',
        ue_pr: ue({ type: 'list_view' }),
        co: co(listed(product({ id: 'unknown', name: 'Tea', category: 'unknown', price: 10, currency: 'EUR' }))),
      }),
    },
    {
      name: 'a product without an id',
      event: track('Product Viewed', { currency: 'EUR' }),
      dropped: 'missing_required:co.data[1][0].data.id',
    },
    ...lacking({
      url: pageViewed({ context: {} }),
      'co.data[1][0].data.currency': track('Product Viewed', { product_id: 'p-1' }),
      'co.data[0][0].data.revenue': track('Order Completed', { order_id: 'o-1', currency: 'EUR' }),
      'co.data[0][0].data.currency': track('Order Refunded', { order_id: 'o-1', total: 5 }),
      'co.data[0][0].data.refund_amount': track('Order Refunded', { order_id: 'o-1', currency: 'EUR' }),
    }),
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:uid' },
    { name: 'identify has no call', event: identified(), dropped: 'mapping_filter' },
    { name: 'group has no call', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: 'ok' }, verdict: { kind: 'delivered' } },
    { name: 'too large together', events: [order, quiz], reply: { status: 413 }, verdict: { kind: 'unavailable', isolate: true } as never },
    { name: 'a wrong path', events: [order], reply: { status: 404 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
