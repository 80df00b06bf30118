/** Visitors of the demo shop: each browses, some sign up, some buy. They send what the collector and Shopify would send. */
import { createHmac, randomUUID } from 'node:crypto';
import { SHOPIFY_SECRET } from './shop.ts';

const PRODUCTS = [
  { product_id: 'TS-42', sku: 'TS-42', name: 'Trail shoe', category: 'Shoes', price: 79.9 },
  { product_id: 'WS-01', sku: 'WS-01', name: 'Wool socks', category: 'Socks', price: 12.5 },
  { product_id: 'RJ-07', sku: 'RJ-07', name: 'Rain jacket', category: 'Jackets', price: 129 },
  { product_id: 'BP-20', sku: 'BP-20', name: 'Backpack 20 l', category: 'Bags', price: 89 },
  { product_id: 'HB-03', sku: 'HB-03', name: 'Headband', category: 'Accessories', price: 14 },
] as const;
const FIRST = ['Mia', 'Ben', 'Lea', 'Noah', 'Ida', 'Finn', 'Emma', 'Paul'];
const LAST = ['Berg', 'Fischer', 'Wolf', 'Kurz', 'Sommer', 'Vogel', 'Brandt'];
const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
];
const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const SITE = 'https://shop.example';

export interface Step {
  /** Destination: a collection path, or the webhook of the shop system. */
  to: 'collect' | 'webhook';
  body: Record<string, unknown>;
  user_agent: string;
}
type Product = (typeof PRODUCTS)[number];

/** The steps of one visit, in order. */
export function visit(random: () => number): Step[] {
  const pick = <T>(list: readonly [T, ...T[]] | readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const anonymousId = randomUUID();
  const user_agent = random() < 0.05 ? BOT : pick(AGENTS);
  const agreed = random();
  const categories = { necessary: true, statistics: agreed < 0.85, marketing: agreed < 0.65 };
  const from = random();
  const landing =
    from < 0.2
      ? `?utm_source=meta&utm_medium=cpc&utm_campaign=autumn&fbclid=IwAR${randomUUID()}`
      : from < 0.35
        ? `?gclid=Cj0K${randomUUID()}`
        : '';
  let userId: string | undefined;
  const steps: Step[] = [];
  const send = (type: string, path: string, fields: Record<string, unknown>) =>
    steps.push({
      to: 'collect',
      user_agent,
      body: {
        type,
        messageId: randomUUID(),
        anonymousId,
        ...(userId === undefined ? {} : { userId }),
        context: {
          page: { url: `${SITE}${path}`, title: 'Demo shop' },
          consent: { categories },
          locale: 'de-DE',
          timezone: 'Europe/Berlin',
        },
        ...fields,
      },
    });
  const page = (path: string, name: string) => send('page', path, { name, properties: { url: `${SITE}${path}`, path, title: name } });
  const line = (product: Product, quantity: number) => ({ ...product, quantity });

  page(`/${landing}`, 'Home');
  const cart: ReturnType<typeof line>[] = [];
  for (let looked = 1 + Math.floor(random() * 3); looked > 0; looked--) {
    const product = pick(PRODUCTS);
    page(`/products/${product.sku.toLowerCase()}`, product.name);
    send('track', `/products/${product.sku.toLowerCase()}`, {
      event: 'Product Viewed',
      properties: { ...product, currency: 'EUR', value: product.price },
    });
    if (random() < 0.5) {
      const added = line(product, 1 + Math.floor(random() * 2));
      cart.push(added);
      send('track', '/cart', { event: 'Product Added', properties: { ...added, currency: 'EUR', value: product.price * added.quantity } });
    }
  }
  if (cart.length === 0) return steps;
  const total = Math.round(cart.reduce((sum, { price, quantity }) => sum + price * quantity, 0) * 100) / 100;
  send('track', '/checkout', { event: 'Checkout Started', properties: { value: total, total, currency: 'EUR', products: cart } });
  if (random() < 0.35) return steps;
  const [first, last] = [pick(FIRST), pick(LAST)];
  userId = `u_${1_000 + Math.floor(random() * 9_000)}`;
  const email = `${first}.${last}.${userId}@example.com`.toLowerCase();
  send('identify', '/checkout', { traits: { email, first_name: first, last_name: last, city: 'Berlin', country: 'DE' } });
  if (random() < 0.3) send('track', '/checkout', { event: 'Signed Up', properties: { method: 'email' } });
  const order_id = `A-${10_000 + Math.floor(random() * 90_000)}`;
  // One order in twelve comes from the old checkout, which uses another name for the currency.
  const currency = random() < 1 / 12 ? { order_currency: 'EUR' } : { currency: 'EUR' };
  send('track', '/thank-you', { event: 'Order Completed', properties: { order_id, total, revenue: total, ...currency, products: cart } });
  if (random() < 0.3) steps.push({ to: 'webhook', user_agent, body: shopifyOrder(order_id, total, email, cart) });
  return steps;
}

function shopifyOrder(
  order_id: string,
  total: number,
  email: string,
  cart: { sku: string; name: string; price: number; quantity: number }[],
) {
  return {
    id: Math.floor(Math.random() * 1e12),
    name: `#${order_id}`,
    email,
    created_at: new Date().toISOString(),
    currency: 'EUR',
    total_price: total.toFixed(2),
    customer: { id: 1, email },
    line_items: cart.map(({ sku, name, price, quantity }, index) => ({
      id: index + 1,
      sku,
      title: name,
      price: price.toFixed(2),
      quantity,
    })),
  };
}

export interface Target {
  base: string;
  pipeline_key: string;
  webhook_url: string;
}
const PATHS: Record<string, string> = { track: '/v1/t', page: '/v1/p', identify: '/v1/i' };

/** Sends one step and returns the service's response, so that the caller can count. */
export async function sendStep({ base, pipeline_key, webhook_url }: Target, { to, body, user_agent }: Step): Promise<number> {
  const text = JSON.stringify(body);
  if (to === 'webhook') {
    const signature = createHmac('sha256', SHOPIFY_SECRET).update(text).digest('base64');
    const headers = {
      'content-type': 'application/json',
      'x-shopify-hmac-sha256': signature,
      'x-shopify-topic': 'orders/create',
      'x-shopify-webhook-id': randomUUID(),
    };
    return (await fetch(webhook_url, { method: 'POST', headers, body: text })).status;
  }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${pipeline_key}`, 'user-agent': user_agent, origin: SITE };
  return (await fetch(`${base}${PATHS[String(body.type)] ?? '/v1/t'}`, { method: 'POST', headers, body: text })).status;
}
