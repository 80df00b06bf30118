import { sentAs, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import klaviyo from './vendor.ts';

const url = 'https://a.klaviyo.com/api/events';
const headers = {
  Authorization: 'Klaviyo-API-Key pk_0123456789abcdef0123456789abcdef01',
  revision: '2026-07-15',
  'Content-Type': 'application/vnd.api+json',
};
const time = '2026-01-02T03:04:05.678Z';
const profile = {
  data: {
    type: 'profile',
    attributes: { external_id: 'user-1', email: 'anna.berg@example.com', phone_number: '+4915123456789', anonymous_id: 'anon-1' },
  },
};
const metric = (name: string) => ({ data: { type: 'metric', attributes: { name } } });
const sent = (name: string, unique_id: string, more: object) => ({
  data: { type: 'event', attributes: { metric: metric(name), profile, time, unique_id, ...more } },
});
const order = orderCompleted();
/** What Klaviyo's flows and recommendations read, beside the properties under their own names. */
const ITEMS = {
  Items: [
    { ProductID: 'p-1', SKU: 'S1', ProductName: 'Tea', Quantity: 2, ItemPrice: 10, RowTotal: 20, Categories: ['Drinks'], Brand: 'Leaf' },
    { ProductID: 'S2', SKU: 'S2', ProductName: 'Cup', Quantity: 1, ItemPrice: 22.5, RowTotal: 22.5 },
  ],
  ItemNames: ['Tea', 'Cup'],
};
const quiz = track('Quiz Taken', { score: 3 });

export default vendorCases(
  klaviyo,
  [
    {
      name: 'an order without products is one event',
      event: track('Order Completed', { order_id: 'o-1', total: 42.5, currency: 'eur' }),
      requests: [
        {
          url,
          body: sent('Placed Order', 'o-1', {
            properties: { order_id: 'o-1', total: 42.5, currency: 'eur', OrderId: 'o-1' },
            value: 42.5,
            value_currency: 'EUR',
          }),
        },
      ],
    },
    {
      name: 'an order, and one event for each product',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers,
          body: sent('Placed Order', 'o-1', {
            properties: { ...order.properties, ...ITEMS, OrderId: 'o-1', DiscountCode: 'TEA10' },
            value: 42.5,
            value_currency: 'EUR',
          }),
        },
        {
          method: 'POST',
          url,
          headers,
          body: sent('Ordered Product', 'evt-1', {
            properties: {
              OrderId: 'o-1',
              ProductID: 'p-1',
              SKU: 'S1',
              ProductName: 'Tea',
              Quantity: 2,
              Categories: ['Drinks'],
              ProductBrand: 'Leaf',
            },
            value: 20,
            value_currency: 'EUR',
          }),
        },
        {
          url,
          body: sent('Ordered Product', 'evt-1-1', {
            properties: { OrderId: 'o-1', ProductID: 'S2', SKU: 'S2', ProductName: 'Cup', Quantity: 1 },
            value: 22.5,
            value_currency: 'EUR',
          }),
        },
      ],
    },
    {
      name: 'a refund under the id of its order, so that Klaviyo finds it',
      event: track('Order Refunded', { order_id: 'o-1', total: 42.5, currency: 'EUR' }),
      requests: [
        {
          body: sent('Refunded Order', 'o-1', {
            properties: { order_id: 'o-1', total: 42.5, currency: 'EUR', OrderId: 'o-1' },
            value: 42.5,
            value_currency: 'EUR',
          }),
        },
      ],
    },
    {
      name: 'a refund that the shop writes with a minus',
      event: track('Order Refunded', { order_id: 'o-1', total: -42.5, currency: 'EUR' }),
      requests: [{ contains: { 'data.attributes.value': 42.5, 'data.attributes.unique_id': 'o-1' } }],
    },
    {
      name: 'a refund of products with a minus, without a total',
      event: track('Order Refunded', { order_id: 'o-1', currency: 'EUR', products: [{ product_id: 'p-1', price: -5, quantity: 2 }] }),
      requests: [{ contains: { 'data.attributes.value': 10 } }],
    },
    {
      name: 'a product whose name, brand and category are numbers: texts',
      event: orderCompleted({ products: [{ product_id: 7, name: 1984, brand: 4711, category: 12, price: '10', quantity: '2' }] }),
      requests: [
        {},
        {
          contains: {
            'data.attributes.properties': {
              OrderId: 'o-1',
              ProductID: '7',
              ProductName: '1984',
              ProductBrand: '4711',
              Categories: ['12'],
              Quantity: 2,
            },
            'data.attributes.value': 20,
          },
        },
      ],
    },
    {
      name: 'an order without an id is told apart by its event',
      event: track('Order Cancelled', { total: 5, currency: 'EUR' }),
      requests: [
        {
          body: sent('Cancelled Order', 'evt-1', { properties: { total: 5, currency: 'EUR' }, value: 5, value_currency: 'EUR' }),
        },
      ],
    },
    {
      name: 'a product under the name that Klaviyo’s flows expect',
      variant: 'retail',
      event: productViewed(),
      requests: [
        {
          url,
          body: sent('Viewed Product', 'evt-1', {
            properties: { ...productViewed().properties, ProductID: 'p-1', ProductName: 'Tea', Categories: ['Drinks'], Price: 10 },
            value: 10,
            value_currency: 'EUR',
          }),
        },
      ],
    },
    {
      name: 'a product added, and its picture',
      event: track('Product Added', { product_id: 'p-1', sku: 'S1', name: 'Tea', price: '10', image_url: 'https://shop.example/tea.png' }),
      requests: [
        {
          contains: {
            'data.attributes.properties.AddedItemProductID': 'p-1',
            'data.attributes.properties.AddedItemSKU': 'S1',
            'data.attributes.properties.AddedItemProductName': 'Tea',
            'data.attributes.properties.AddedItemPrice': 10,
            'data.attributes.properties.AddedItemQuantity': 1,
            'data.attributes.properties.AddedItemImageURL': 'https://shop.example/tea.png',
          },
        },
      ],
    },
    {
      name: 'a checkout with its items',
      event: orderCompleted({}, { event: 'Checkout Started' }),
      requests: [
        { contains: { 'data.attributes.properties.Items': ITEMS.Items, 'data.attributes.properties.ItemNames': ITEMS.ItemNames } },
      ],
    },
    {
      name: 'a checkout',
      event: track('Checkout Started', { checkout_id: 'c-1', total: 20, currency: 'EUR' }),
      requests: [
        {
          body: sent('Started Checkout', 'evt-1', {
            properties: { checkout_id: 'c-1', total: 20, currency: 'EUR' },
            value: 20,
            value_currency: 'EUR',
          }),
        },
      ],
    },
    {
      name: 'any other event under its own name',
      event: quiz,
      requests: [{ url, headers, body: sent('Quiz Taken', 'evt-1', { properties: { score: 3 } }) }],
    },
    {
      name: 'a phone number that cannot exist is left out, or Klaviyo would reject the event',
      event: track('Quiz Taken', {}, { traits: { email: 'anna.berg@example.com', phone: '+1 555 123 4567' } }),
      requests: [
        {
          contains: {
            'data.attributes.profile.data.attributes.email': 'anna.berg@example.com',
            'data.attributes.profile.data.attributes.phone_number': undefined,
          },
        },
      ],
    },
    {
      name: 'an event without properties, which Klaviyo requires',
      event: track('Quiz Taken', {}, { properties: undefined as never }),
      requests: [{ body: sent('Quiz Taken', 'evt-1', { properties: {} }) }],
    },
    {
      name: 'a page',
      event: pageViewed({ traits: { email: 'anna.berg@example.com', phone: '+4915123456789' } }),
      requests: [
        {
          body: sent('Viewed Page', 'evt-2', {
            properties: { path: '/', page_name: 'Home', page_url: 'https://shop.example/checkout?x=1', page_title: 'Checkout' },
          }),
        },
      ],
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: {}, traits: { email: 'anna.berg@example.com', phone: '+4915123456789' } }),
      requests: [{ body: sent('Viewed Screen', 'evt-2', { properties: { path: '/', screen_name: 'Home' } }) }],
    },
    {
      name: 'identify creates or updates the profile',
      event: identified({ traits: { ...identified().traits, company: 'Acme', plan: 'pro' } }),
      requests: [
        {
          method: 'POST',
          url: 'https://a.klaviyo.com/api/profile-import',
          headers,
          body: {
            data: {
              type: 'profile',
              attributes: {
                external_id: 'user-1',
                anonymous_id: 'anon-1',
                email: 'anna.berg@example.com',
                phone_number: '+4915123456789',
                first_name: 'Anna',
                last_name: 'Berg',
                organization: 'Acme',
                locale: 'de-DE',
                location: { city: 'New York', region: 'New York', zip: '10001-1234', country: 'US', ip: '203.0.113.7' },
                properties: { plan: 'pro' },
              },
            },
          },
        },
      ],
    },
    {
      name: 'a group is the organisation of the profile',
      event: grouped(),
      requests: [
        {
          url: 'https://a.klaviyo.com/api/profile-import',
          body: {
            data: {
              type: 'profile',
              attributes: { external_id: 'user-1', anonymous_id: 'anon-1', organization: 'Acme', properties: { group_id: 'acme' } },
            },
          },
        },
      ],
    },
    {
      name: 'a visitor whom nobody knows',
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' },
      dropped: 'missing_required:who.profile.data.attributes.email',
    },
    ...sentAs('data.attributes.metric.data.attributes.name', {
      'Product Added': 'Added to Cart',
      'Order Refunded': 'Refunded Order',
      'Order Cancelled': 'Cancelled Order',
    }),
  ],
  [
    { name: 'accepted', events: [quiz], reply: { status: 202 }, verdict: { kind: 'delivered' } },
    { name: 'a new profile', events: [identified()], reply: { status: 201, body: { data: {} } }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [quiz],
      reply: {
        status: 400,
        body: { errors: [{ id: '1', code: 'invalid', title: 'Invalid input.', detail: 'Invalid phone number format' }] },
      },
      verdict: { kind: 'refused', reason: 'http_400: Invalid phone number format' },
    },
    {
      name: 'a key without the scope',
      events: [quiz],
      reply: { status: 403, body: { errors: [{ detail: 'You do not have permission to perform this action.' }] } },
      verdict: { kind: 'refused', reason: 'http_403: You do not have permission to perform this action.' },
    },
    {
      name: 'throttled',
      events: [quiz],
      reply: { status: 429, headers: { 'retry-after': '12' }, body: { errors: [{ detail: 'Request was throttled.' }] } },
      verdict: { kind: 'unavailable', reason: 'http_429: Request was throttled.', retry_after_ms: 12_000 },
    },
    { name: 'a failure of theirs', events: [quiz], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
