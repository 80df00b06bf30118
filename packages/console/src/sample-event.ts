/** An event of a shop's visitor, as the collector sends it: what previews begin with until a real one is chosen. */
export const SAMPLE_BODY = {
  type: 'track',
  event: 'Order Completed',
  anonymousId: '8f14e45f-ceea-467f-a8d3-6c3f7d6a1c11',
  userId: 'u_4711',
  properties: {
    order_id: 'A-1009',
    total: 129.9,
    currency: 'EUR',
    products: [
      { product_id: 'TS-42', name: 'Trail shoe', price: 79.9, quantity: 1 },
      { product_id: 'WS-01', name: 'Wool socks', price: 25, quantity: 2 },
    ],
  },
  traits: { email: 'Visitor@Example.com', phone: '+49 30 1234567' },
  context: {
    ip: '203.0.113.77',
    userAgent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    page: { url: 'https://shop.example/thank-you?utm_source=meta&fbclid=IwAR0abc&email=visitor@example.com', title: 'Thank you' },
    consent: { categories: { necessary: true, statistics: true, marketing: false } },
  },
};
