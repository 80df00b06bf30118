/** The panel of an event says what really happened, and every number leads to a list of what it counts. */
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, expect, test, vi } from 'vitest';
import { type DeadLettersSearch, filterOf, whichOf } from '../packages/console/src/pages/dead-letters/search.ts';
import { type EventsSearch, queryOf } from '../packages/console/src/pages/events/search.ts';
import { send as post } from './harness/client.ts';
import { startConsole } from './harness/console.ts';

const { service, page, admin, receiver } = await startConsole({ RETRY_BASE: '100ms' });
let pipeline: { id: string; pipeline_key: string };
let hook: { id: string; template_id: string };

beforeAll(async () => {
  await admin.put('/data-layer', { config: { bot_filtering: { action: 'drop' }, pii_rules: { ip: 'truncate' } } });
  pipeline = await admin.post('/pipelines', { name: 'Web shop', parameters: { shop: 'north' } });
  const config = { url: receiver.url, headers: { 'x-shop': '{{pipeline_param.shop}}', 'x-version': 'first' } };
  hook = await admin.post('/integrations', { source_id: pipeline.id, vendor: 'webhook', name: 'Hook', config });
});

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const LIMIT = { timeout: 90_000, interval: 100 };
let sent = 0;
/** A new pipeline is in force within seconds. */
async function send(messageId: string, of: object = {}, agent = BROWSER): Promise<void> {
  const body = { type: 'track', event: 'Order Completed', messageId, properties: { total: 7 }, ...of };
  const accepted = async () => (await post(service, pipeline.pipeline_key, '/v1/t', body, { 'user-agent': agent })).status === 200;
  await vi.waitUntil(accepted, LIMIT);
  sent++;
}
const panel = () => page.getByRole('region', { name: 'Event', exact: true });
const arrived = (id: string) => receiver.requests.filter(({ body }) => body.includes(id));
interface Listed {
  event_id: string;
  deliveries: { status: string }[];
}
/** Waits for the trace: it is recorded a moment after the delivery. */
async function explained(id: string): Promise<void> {
  const isDelivered = ({ event_id, deliveries }: Listed) => event_id === id && deliveries.every(({ status }) => status === 'delivered');
  const listed = async () => (await admin.get<{ events: Listed[] }>(`/events?pipeline_id=${pipeline.id}`)).events;
  await vi.waitUntil(async () => (await listed()).some(isDelivered), LIMIT);
}

test('the request of an event is the one of the revision that sent it, also after another is pinned', async () => {
  await send('order-1');
  await explained('order-1');
  const config = { url: receiver.url, headers: { 'x-shop': '{{pipeline_param.shop}}', 'x-version': 'second' } };
  const { revision_number } = await admin.post<{ revision_number: number }>(`/integration-templates/${hook.template_id}/revisions`, {
    config,
    change_summary: 'Another header',
  });
  expect(revision_number).toBe(2);
  await admin.put(`/pipelines/${pipeline.id}/integrations/${hook.id}`, { revision_number });
  await page.goto(`${service.url}/events?selected=order-1&request=${hook.id}`);
  await panel().getByText('Built by revision 1, which sent it. Revision 2 is pinned now. Attempt 1.').waitFor();
  await panel().getByText('x-version: first').waitFor();
  expect(arrived('order-1')[0]?.headers).toMatchObject({ 'x-version': 'first', 'x-shop': 'north' });
  await panel().getByText('The parameters of the pipeline have not changed since.').waitFor();
  await admin.put(`/pipelines/${pipeline.id}`, { parameters: { shop: 'south' } });
  await page.reload();
  await panel().getByText('the pipeline was changed after it was sent').waitFor();
});

/** How many the list of a link has: of events the results that are asked for, else the events. */
async function listed(address: string): Promise<number> {
  const { pathname, searchParams } = new URL(address, service.url);
  const search = Object.fromEntries(searchParams) as EventsSearch & DeadLettersSearch;
  const status = search.status === 'all' || search.status === undefined ? {} : { status: search.status };
  const [path, query] = pathname === '/events' ? ['/events', queryOf(search)] : ['/dlq', { ...filterOf(whichOf(search)), ...status }];
  const asked = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const { total, outcomes } = await admin.get<{ total: number; outcomes?: number }>(`${path}?${asked}`);
  return outcomes ?? total;
}
/** Every number of the page that leads to a list, as `[number, address]`. */
async function numbersOf(path: string): Promise<[shown: number, address: string][]> {
  await page.goto(`${service.url}${path}`);
  if (!path.includes('tab=')) await page.getByText('As a table').click();
  await page.waitForFunction(() => (window as unknown as { openRequests: number }).openRequests === 0);
  await vi.waitUntil(async () => !(await page.locator('main a').allInnerTexts()).join().includes('…'), LIMIT);
  const links = page.locator('main a[href^="/events?"]:visible, main a[href^="/dead-letters?"]:visible');
  // The links of the picture are SVG, which has no `innerText`.
  const found = await links.evaluateAll((all) =>
    all.map((link): [string, string] => [(link as HTMLElement).innerText ?? link.textContent, link.getAttribute('href') ?? '']),
  );
  return found.flatMap(([text, address]): [number, string][] => {
    // `Delivered 7 +3 %`, `consent 1,611`, `−2 by rules`, `7`: the first number. Rates are of whole minutes in the past.
    const shown = /\d[\d,]*/.exec(text.replace('in 24 h', ''))?.[0];
    return shown === undefined || /\/\s*min/.test(text) ? [] : [[Number(shown.replaceAll(',', '')), address]];
  });
}

test('every number of Home, a pipeline and an integration is the number of what its list shows', async () => {
  const second = await admin.post<{ id: string }>('/integrations', {
    source_id: pipeline.id,
    vendor: 'webhook',
    name: 'Second',
    event_filter: { event_names: ['Order Completed', 'Order Refused'] },
    config: { url: receiver.url, max_retries: 0 },
  });
  const count = async (query: string) => (await admin.get<{ total: number }>(query)).total;
  receiver.answer(({ body }) => ({ status: body.includes('Order Refused') ? 400 : 200 }));
  await vi.waitUntil(async () => {
    await send(`probe-${Math.random()}`);
    return (await admin.get<{ total: number }>(`/events?delivery=delivered&integration_id=${second.id}`)).total > 0;
  }, LIMIT);
  await send('refused-1', { event: 'Order Refused' });
  await send('filtered-1', { event: 'Order Filtered' });
  await send('bot-1', {}, 'Googlebot/2.1 (+http://www.google.com/bot.html)');
  const code = "function transform() { throw new Error('broken'); }";
  const broken = { name: 'Broken', kind: 'code', code, event_filter: { event_names: ['Order Broken'] } };
  await admin.post(`/pipelines/${pipeline.id}/transformations`, broken);
  await vi.waitUntil(async () => {
    await send(`broken-${Math.random()}`, { event: 'Order Broken' });
    return (await count(`/dlq?pipeline_id=${pipeline.id}&stage=processing`)) > 0;
  }, LIMIT);
  const unsigned = { pipeline_id: pipeline.id, name: 'Shop', source_type: 'ecommerce_platform' };
  const { url } = await admin.post<{ url: string }>('/webhook-sources', unsigned);
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(200);
  const headers = { authorization: `Bearer ${pipeline.pipeline_key}`, 'content-type': 'application/json' };
  expect((await fetch(`${service.url}/v1/t`, { method: 'POST', headers, body: '{"type":"track"}' })).status).toBe(400);
  await vi.waitUntil(async () => (await count(`/dlq?pipeline_id=${pipeline.id}&stage=delivery`)) === 2, LIMIT);
  receiver.answer(() => ({ status: 200 }));
  expect(await admin.post('/dlq/replay', { integration_id: second.id })).toEqual({ replayed: 1 });
  const filtered = `/events?delivery=dropped&integration_id=${second.id}&event=Order%20Filtered`;
  await vi.waitUntil(async () => (await count(filtered)) === 1, LIMIT);
  // The filter of the second drops it again.
  const [from, to] = [Date.now() - 3_600_000, Date.now() + 60_000].map((ms) => new Date(ms).toISOString());
  const history = { from, to, event_ids: ['filtered-1'] };
  expect(await admin.post(`/pipelines/${pipeline.id}/integrations/${second.id}/replay`, history)).toEqual({ replayed: 1 });
  const settled = async () => {
    const { totals, waiting } = await admin.get<{ totals: Record<string, unknown>; waiting: number }>(`/stats?pipeline_id=${pipeline.id}`);
    const { received, replayed, rejected, dropped_again } = totals;
    const found = { received, replayed, rejected, dropped_again };
    if (waiting > 0 || !isDeepStrictEqual(found, { received: sent, replayed: 1, rejected: 2, dropped_again: { event_filtered: 1 } }))
      return false;
    // An outcome is recorded a moment after its event stops waiting.
    return (await count('/events?delivery=waiting')) === 0 && (await count('/events?status=dropped')) === 1;
  };
  await vi.waitUntil(settled, LIMIT);
  const right = new Set<string>();
  const wrongOf = async (path: string) => {
    const wrong: string[] = [];
    for (const [shown, address] of await numbersOf(path)) {
      if (right.has(address)) continue;
      const found = await listed(address);
      if (found === shown) right.add(address);
      else wrong.push(`${path}: ${shown}, but ${found} in ${address}`);
    }
    return wrong;
  };
  const of = `/pipelines/${pipeline.id}`;
  // Again where a number differs: the live counts may be two seconds late.
  for (const path of ['/?range=1h', `${of}?range=1h`, `${of}?tab=integrations&integration=${second.id}`])
    await expect.poll(() => wrongOf(path)).toEqual([]);
  expect(right.size).toBeGreaterThan(20);
});

test('each step shows what it changed, also where two changed the same field; a later change of the configuration is said', async () => {
  const code = (total: number) => `function transform(event) { event.properties.total = ${total}; return event; }`;
  const path = `/pipelines/${pipeline.id}/transformations`;
  await admin.post(path, { name: 'Eight', kind: 'code', code: code(8) });
  const second = await admin.post<{ id: string }>(path, { name: 'Nine', kind: 'code', code: code(9) });
  let id = '';
  const isNine = async () => {
    await send((id = `step-${Math.random()}`));
    await explained(id);
    return arrived(id)[0]?.body.includes('"total":9');
  };
  await vi.waitUntil(isNine, LIMIT);
  await page.goto(`${service.url}/events?selected=${id}`);
  const step = (name: string) => panel().getByRole('listitem').filter({ hasText: name });
  await step('Eight').getByText('− properties.total  7').waitFor();
  await step('Eight').getByText('+ properties.total  8').waitFor();
  await step('Nine').getByText('− properties.total  8').waitFor();
  await step('Nine').getByText('+ properties.total  9').waitFor();
  await step('Privacy').getByText('− context.ip  (hidden by the privacy rules)').waitFor();
  await admin.put(`${path}/${second.id}`, { code: code(10) });
  await expect.poll(async () => (await admin.get<{ same: boolean }>(`/events/${id}/changes`)).same).toBe(false);
  await page.reload();
  await panel().getByText('the configuration was changed since').waitFor();
});
