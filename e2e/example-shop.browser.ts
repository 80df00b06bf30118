import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browsing, browse } from '../packages/collector/test/site.ts';
import { endingWithUs } from '../packages/server/test/servers/index.ts';
import { until } from './harness/client.ts';
import { OWNER, type Service, startService } from './harness/service.ts';

let service: Service;
let browsing: Browsing;
let stopShop: () => void;
let address: string;
/** Requests that the example prints: vendor and parsed body. */
const received: { vendor: string; body: { [key: string]: unknown } }[] = [];

beforeAll(async () => {
  service = await startService();
  browsing = await browse();
  const args = ['--url', service.url, '--email', OWNER.email, '--password', OWNER.password, '--port', '0'];
  const [command = '', ...rest] = endingWithUs([process.execPath, join(import.meta.dirname, '../examples/shop/run.ts'), ...args]);
  const shop = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  stopShop = () => shop.kill();
  createInterface({ input: shop.stdout }).on('line', (line) => {
    const [vendor = '', ...rest] = line.split(' ');
    if (vendor === 'The') address = rest.at(-1) ?? '';
    else received.push({ vendor, body: JSON.parse(rest.join(' ')) });
  });
  await until('the shop', () => address !== undefined);
});
afterAll(async () => {
  stopShop?.();
  await browsing?.close();
  await service?.stop();
});

const bodies = (vendor: string) => received.filter((request) => request.vendor === vendor).map(({ body }) => JSON.stringify(body));
const orders = () => received.filter(({ vendor, body }) => vendor === 'webhook' && body.event === 'Order Completed');
/** What reached Meta of the visitor who placed the order. The webhook gets every event. */
function atMeta({ anonymous_id }: { anonymous_id?: unknown }): string[] {
  const ids = received
    .filter(({ vendor, body }) => vendor === 'webhook' && body.anonymous_id === anonymous_id)
    .map(({ body }) => body.event_id);
  return bodies('meta').filter((body) => ids.some((id) => body.includes(`"${id}"`)));
}

test('a purchase in the example shop reaches all three vendors, each in its own format', async () => {
  const page = await browsing.context.newPage();
  await page.goto(address);
  await page.click('#consent button');
  await page.click('#view');
  await page.click('#buy');
  const order = await until('the webhook', () => orders()[0]);
  await until('Google Analytics', () => bodies('google-analytics').some((body) => body.includes('"purchase"')));
  await until('Meta', () => atMeta(order.body).some((body) => body.includes('"Purchase"')));
  // Personal data is hashed before it is sent.
  expect(bodies('meta').join()).not.toContain('ada@example.com');
});

test('without consent nothing reaches the advertising vendor', async () => {
  const before = orders().length;
  const purchases = () => bodies('google-analytics').filter((body) => body.includes('"purchase"')).length;
  const purchasesBefore = purchases();
  const context = await browsing.another();
  const page = await context.newPage();
  await page.goto(address);
  await page.uncheck('input[name=marketing]');
  await page.click('#consent button');
  await page.click('#buy');
  await until('Google Analytics', () => purchases() > purchasesBefore);
  const order = await until('the webhook', () => orders()[before]);
  expect(atMeta(order.body)).toEqual([]);
  await context.close();
});
