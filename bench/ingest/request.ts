/** The request of the load: a typical event of 0.6 KB. */
const EVENT = JSON.stringify({
  type: 'track',
  event: 'Product Viewed',
  messageId: 'MESSAGE',
  anonymousId: 'VISITOR-7f0a-4a39-8f59-0d8f4b0c8a11',
  timestamp: '2026-11-15T00:00:00.000Z',
  properties: { product_id: 'sku-12345', name: 'A pair of walking boots', price: 129.9, currency: 'EUR', category: 'Shoes', position: 3 },
  context: {
    page: { url: 'https://shop.example/shoes/boots?utm_source=news', title: 'Boots', referrer: 'https://shop.example/' },
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    locale: 'en-GB',
    timezone: 'Europe/Paris',
  },
});

export function trackEvent(messageId: string, visitor: string): string {
  return EVENT.replace('MESSAGE', messageId).replace('VISITOR', visitor);
}
export function headOf(path: string, key: string, length: number): string {
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}
