import type { SourceDefinition, SourceMappings, SourceValue } from '@firsthand/core/inbound/source-definition.ts';

/** Shopify writes amounts as text. */
const number = (path: string): SourceValue => ({ path, as: 'number' });
const products = (each: string, item = '$'): SourceValue => ({
  each,
  fields: {
    product_id: `${item}.product_id`,
    variant_id: `${item}.variant_id`,
    sku: `${item}.sku`,
    name: `${item}.title`,
    variant: `${item}.variant_title`,
    brand: `${item}.vendor`,
    quantity: '$.quantity',
    price: number(`${item}.price`),
  },
});

/** Of the buyer: the billing address, otherwise where the goods go, otherwise the customer's own. */
const ofAddress = (name: string): SourceValue => ({
  first: ['billing_address', 'shipping_address', 'customer.default_address'].map((address) => `$.${address}.${name}`),
});
const buyer = (name: string): SourceValue => ({ first: [`$.customer.${name}`, ofAddress(name)] });
const ADDRESS: SourceMappings = {
  'traits.address.street': ofAddress('address1'),
  'traits.address.city': ofAddress('city'),
  'traits.address.state': { first: [ofAddress('province_code'), ofAddress('province')] },
  'traits.address.postal_code': ofAddress('zip'),
  'traits.address.country': { first: [ofAddress('country_code'), ofAddress('country')] },
};

/** https://shopify.dev/docs/apps/build/webhooks — the topic and the delivery's id stand in headers. */
export const shopify: SourceDefinition = {
  provider: 'shopify',
  source_type: 'ecommerce_platform',
  name: 'Shopify',
  body: 'object',
  event_type_path: '$headers.x-shopify-topic',
  // The webhook id is the same on every retry. The event id is shared by all topics that one action of a merchant sets
  // off (orders/create, orders/paid …), so it would make duplicates of different events.
  event_id_paths: ['$headers.x-shopify-webhook-id', '$headers.x-shopify-event-id'],
  timestamp_path: '$headers.x-shopify-triggered-at',
  // When the order was placed, not when Shopify came round to telling.
  timestamp_by_type: [
    { suffixes: ['/create'], path: '$.created_at' },
    { suffixes: ['/update', '/updated'], path: '$.updated_at' },
    { suffixes: ['/cancelled'], path: '$.cancelled_at' },
  ],
  timestamp_format: 'iso8601',
  event_name_map: {
    'orders/create': 'Order Completed',
    'orders/paid': 'Order Paid',
    'orders/updated': 'Order Updated',
    'orders/edited': 'Order Edited',
    'orders/fulfilled': 'Order Fulfilled',
    'orders/partially_fulfilled': 'Order Partially Fulfilled',
    'orders/cancelled': 'Order Cancelled',
    'orders/delete': 'Order Deleted',
    'refunds/create': 'Order Refunded',
    'customers/create': 'Customer Created',
    'customers/update': 'Customer Updated',
    'customers/delete': 'Customer Deleted',
    'customers/enable': 'Customer Enabled',
    'customers/disable': 'Customer Disabled',
    'products/create': 'Product Created',
    'products/update': 'Product Updated',
    'products/delete': 'Product Deleted',
    'carts/create': 'Cart Created',
    'carts/update': 'Cart Updated',
    'checkouts/create': 'Checkout Started',
    'checkouts/update': 'Checkout Updated',
  },
  mappings: {
    'properties.shop_domain': '$headers.x-shopify-shop-domain',
  },
  by_type: [
    {
      prefixes: ['orders/', 'checkouts/'],
      mappings: {
        userId: '$.customer.id',
        'properties.total': number('$.total_price'),
        'properties.subtotal': number('$.subtotal_price'),
        'properties.tax': number('$.total_tax'),
        'properties.discount': number('$.total_discounts'),
        'properties.shipping': number('$.total_shipping_price_set.shop_money.amount'),
        'properties.currency': '$.currency',
        'properties.coupon': '$.discount_codes[0].code',
        'properties.financial_status': '$.financial_status',
        'properties.fulfillment_status': '$.fulfillment_status',
        'properties.products': products('$.line_items'),
        'properties.referring_site': '$.referring_site',
        'properties.landing_site': '$.landing_site',
        'traits.email': '$.email',
        // Most orders have a number in their addresses only.
        'traits.phone': { first: ['$.phone', ofAddress('phone'), '$.customer.phone'] },
        'traits.first_name': buyer('first_name'),
        'traits.last_name': buyer('last_name'),
        ...ADDRESS,
        'context.ip': '$.client_details.browser_ip',
        'context.userAgent': '$.client_details.user_agent',
      },
    },
    {
      prefixes: ['orders/'],
      mappings: { 'properties.order_id': '$.id', 'properties.order_name': '$.name', 'properties.checkout_id': '$.checkout_id' },
    },
    // The id that the order names as its checkout_id.
    { prefixes: ['checkouts/'], mappings: { 'properties.checkout_id': '$.id' } },
    {
      prefixes: ['refunds/'],
      mappings: {
        'properties.refund_id': '$.id',
        'properties.order_id': '$.order_id',
        'properties.note': '$.note',
        'properties.products': products('$.refund_line_items', '$.line_item'),
        'properties.total': number('$.transactions[0].amount'),
        'properties.currency': '$.transactions[0].currency',
        'properties.transactions': '$.transactions',
      },
    },
    {
      prefixes: ['customers/'],
      mappings: {
        userId: '$.id',
        'properties.customer_id': '$.id',
        'properties.orders_count': '$.orders_count',
        'properties.total_spent': number('$.total_spent'),
        'properties.state': '$.state',
        'properties.tags': '$.tags',
        'traits.email': '$.email',
        'traits.phone': '$.phone',
        'traits.first_name': '$.first_name',
        'traits.last_name': '$.last_name',
      },
    },
    {
      prefixes: ['products/'],
      mappings: {
        'properties.product_id': '$.id',
        'properties.name': '$.title',
        'properties.brand': '$.vendor',
        'properties.category': '$.product_type',
        'properties.handle': '$.handle',
        'properties.status': '$.status',
        'properties.tags': '$.tags',
        'properties.sku': '$.variants[0].sku',
        'properties.price': number('$.variants[0].price'),
        'properties.variants': '$.variants',
        'properties.image_url': '$.image.src',
      },
    },
    {
      prefixes: ['carts/'],
      mappings: { 'properties.cart_id': '$.id', 'properties.products': products('$.line_items') },
    },
  ],
};
