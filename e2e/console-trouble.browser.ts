/** When something is in the way, in Chromium on the running service: the connection is lost, the service is overloaded or away. */
import type { Route, WebSocketRoute } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { passTime, startConsole } from './harness/console.ts';

const { service, page, admin, errors } = await startConsole();
let pipeline: string;

beforeAll(async () => {
  ({ id: pipeline } = await admin.post<{ id: string }>('/pipelines', { name: 'Web shop' }));
});
afterEach(() => expect(errors).toEqual([]));

const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();

describe('the live list of events', () => {
  let key: string;
  const send = (name: string) =>
    // A new pipeline accepts events within a second.
    expect
      .poll(async () => {
        const answer = await fetch(`${service.url}/v1/t`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ type: 'track', event: name, anonymousId: 'a-1', messageId: name }),
        });
        return answer.status;
      })
      .toBe(200);
  const row = (name: string) => page.getByRole('option').filter({ hasText: name });

  test('has what came while it was paused, and while the connection was away', async () => {
    ({ pipeline_key: key } = await admin.post<{ pipeline_key: string }>('/pipelines', { name: 'Live shop' }));
    let connection: WebSocketRoute | undefined;
    let isDown = false;
    await page.routeWebSocket(/debug\/live/, (socket) => {
      connection = socket;
      if (isDown) void socket.close();
      else socket.connectToServer();
    });
    await page.goto(`${service.url}/events`);
    await page.getByRole('status', { name: /^Live/ }).waitFor();
    await send('Sent while live');
    await row('Sent while live').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await send('Sent while paused');
    await page.getByRole('button', { name: 'Go live' }).click();
    await row('Sent while paused').waitFor();
    isDown = true;
    await connection?.close();
    await page.getByRole('status', { name: /^Offline/ }).waitFor();
    await send('Sent while away');
    isDown = false;
    await row('Sent while away').waitFor();
    await expect
      .poll(async () => (await page.getByRole('option').allInnerTexts()).map((text) => /Sent while \w+/.exec(text)?.[0]))
      .toEqual(['Sent while away', 'Sent while paused', 'Sent while live']);
  });
});

describe('a service in trouble', () => {
  beforeAll(() => page.clock.install());

  test('that is overloaded says so: the form keeps what was typed, and the same click works later', async () => {
    let overloaded = true;
    await page.route('**/v1/admin/pipelines', (route) =>
      overloaded && route.request().method() === 'POST'
        ? route.fulfill({ status: 503, json: { error: { code: 'UNAVAILABLE', message: 'The service is busy: try again soon.' } } })
        : route.continue(),
    );
    await page.goto(`${service.url}/pipelines?new=yes`);
    await page.getByRole('dialog').getByLabel('Name').fill('Typed under load');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').getByText('The service is busy: try again soon.').waitFor();
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Typed under load');
    overloaded = false;
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'Typed under load' }).waitFor();
  });

  test('that cannot answer a page shows why, and a way to try again', async () => {
    let overloaded = true;
    await page.route('**/v1/admin/audit-logs*', (route) =>
      overloaded
        ? route.fulfill({ status: 503, json: { error: { code: 'UNAVAILABLE', message: 'The configuration store cannot be reached.' } } })
        : route.continue(),
    );
    await page.goto(`${service.url}/audit`);
    await passTime(page, { until: page.getByRole('heading', { name: 'Service unavailable' }) });
    overloaded = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('pipeline.created').first().waitFor();
  });

  test.each([
    ['Home', '/', /\/stats\?.*group_by=pipeline_id&pipeline_ids/, 'The numbers of the pipelines', 'Pipelines'],
    ['a pipeline', '/pipelines/:id', /\/stats\?.*group_by=integration_id/, 'The numbers of each integration', 'Integrations'],
    ['the picture of a pipeline', '/pipelines/:id', /\/webhook-sources\?/, 'A part of the picture', 'Picture of the pipeline'],
  ])('that answers a part of %s leaves the rest, and says what is missing', async (_page, path, refused, what, rest) => {
    const { id } = await admin.post<{ id: string }>('/pipelines', { name: `Half ${what}` });
    await admin.post('/integrations', { source_id: id, vendor: 'webhook', name: 'Hook', config: { url: 'https://example.com/hook' } });
    const refuse = (route: Route) =>
      route.fulfill({ status: 503, json: { error: { code: 'UNAVAILABLE', message: 'The statistics cannot be read.' } } });
    await page.route(refused, refuse);
    await page.goto(`${service.url}${path.replace(':id', id)}`);
    const notice = page.getByRole('alert').filter({ hasText: `${what} could not be read just now` });
    await passTime(page, { until: notice.getByText('The statistics cannot be read.') });
    await page.getByRole('region', { name: rest }).waitFor();
    await page.unroute(refused, refuse);
    await notice.getByRole('button', { name: 'Try again' }).click();
    await notice.waitFor({ state: 'detached' });
  });

  test('that cannot read the causes of dead letters again keeps those it has, and says so', async () => {
    const { pipeline_key } = await admin.post<{ pipeline_key: string }>('/pipelines', { name: 'Shop of rejected events' });
    const send = () =>
      fetch(`${service.url}/v1/t`, {
        method: 'POST',
        headers: { authorization: `Bearer ${pipeline_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'track' }),
      });
    await expect.poll(async () => (await send()).status).toBe(400);
    await expect.poll(async () => (await admin.get<{ total: number }>('/dlq')).total).toBeGreaterThan(0);
    await page.goto(`${service.url}/dead-letters`);
    // The table repeats the name in a cell for telephones.
    const cause = page.getByRole('region', { name: 'Causes' }).getByText('Shop of rejected events').filter({ visible: true });
    await cause.waitFor();
    const refuse = (route: Route) => route.fulfill({ status: 503, json: { error: { code: 'UNAVAILABLE', message: 'Later, please.' } } });
    await page.route('**/v1/admin/dlq/groups?*', refuse);
    await page.clock.runFor(31_000);
    const notice = page.getByRole('alert').filter({ hasText: 'The causes could not be read just now' });
    await passTime(page, { until: notice });
    await cause.waitFor();
    await page.unroute('**/v1/admin/dlq/groups?*', refuse);
    await notice.getByRole('button', { name: 'Try again' }).click();
    await notice.waitFor({ state: 'detached' });
  });

  test('that limits further pages of events is not asked without pause; the list says so and goes on', async () => {
    const received_at = new Date().toISOString();
    const event = (event_id: string) => ({
      ...{ event_id, pipeline_id: pipeline, type: 'track', event_name: event_id, user_id: null, anonymous_id: null },
      ...{ received_at, processed_at: received_at, status: 'processed', reason: null, event: {}, deliveries: [] },
    });
    const first = Array.from({ length: 100 }, (_, at) => event(`first page ${at}`));
    let isLimited = true;
    let further = 0;
    const answer = (route: Route) => {
      if (!route.request().url().includes('cursor=')) return route.fulfill({ json: { events: first, total: 101, next_cursor: 'next' } });
      further++;
      return isLimited
        ? route.fulfill({
            status: 429,
            headers: { 'retry-after': '3600' },
            json: { error: { code: 'RATE_LIMITED', message: 'Slower, please.' } },
          })
        : route.fulfill({ json: { events: [event('the last one')], total: 101, next_cursor: null } });
    };
    await page.route('**/v1/admin/events?*', answer);
    await page.goto(`${service.url}/events?live=off`);
    await page.getByText('first page 0', { exact: true }).waitFor();
    const list = page.getByRole('listbox', { name: 'Events' });
    await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.getByText('Older events could not be read: Slower, please.').waitFor();
    for (const top of [0, 1_000, 10_000]) await list.evaluate((box, to) => box.scrollTo(0, to), top);
    await page.getByText('first page 99', { exact: true }).waitFor();
    expect(further).toBe(1);
    isLimited = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.getByText('the last one', { exact: true }).waitFor();
    expect(further).toBe(2);
    await page.unroute('**/v1/admin/events?*', answer);
  });

  test('that is away keeps the page: the banner says since when, what was typed can be saved once it is back', async () => {
    await page.goto(`${service.url}/data-layer`);
    await page.getByRole('button', { name: 'Add a category' }).click();
    await page.getByLabel('Raw category').last().fill('typed while it was up');
    const banner = page.getByRole('alert').filter({ hasText: 'No connection to the service' });
    await service.kill();
    await banner.waitFor();
    await save();
    await passTime(page, { until: page.getByRole('dialog').getByText('is not known now') });
    await page.getByRole('dialog').getByRole('button', { name: 'Save it' }).click();
    await page.getByText('Not saved').waitFor();
    expect(await page.getByLabel('Raw category').last().inputValue()).toBe('typed while it was up');
    // A link under the mouse loads its page ahead: that fails, and must not reload this one.
    await page.getByRole('link', { name: 'Team' }).hover();
    // In vain: it is still away. Once it is back the page finds it by itself.
    await page.getByRole('button', { name: 'Try now' }).click();
    await banner.waitFor();
    await service.start();
    await passTime(page, { until: banner, isShown: false });
    expect(await page.getByLabel('Raw category').last().inputValue()).toBe('typed while it was up');
    await save();
    await page.getByText('New events are processed this way').waitFor();
  });

  test('whose socket a proxy does not pass on is read from the API instead, and says so', async () => {
    const other = await page.context().newPage();
    await other.routeWebSocket(/debug\/live/, (socket) => socket.close());
    await other.goto(service.url);
    await other.getByRole('alert').filter({ hasText: 'Live data is not connected' }).waitFor();
    await other.getByRole('status', { name: /^Offline/ }).waitFor();
    await other.getByRole('link', { name: /^Received \d/ }).waitFor();
    await other.close();
  });

  test('makes fewer than 20 requests a minute while Home is open', async () => {
    await page.goto(service.url);
    await page.getByText('As a table').waitFor();
    let requests = 0;
    page.on('request', () => requests++);
    let beat: () => void = () => undefined;
    const counts = new Map<string, string>();
    await page.routeWebSocket(/debug\/live/, (socket) => {
      socket.connectToServer().onMessage((message) => {
        const { stage, scope } = JSON.parse(String(message)) as { stage: string; scope?: object };
        if (stage === 'counts') counts.set(JSON.stringify(scope), String(message));
        socket.send(message);
      });
      beat = () => {
        for (const message of ['{"stage":"heartbeat"}', ...counts.values()]) socket.send(message);
      };
    });
    // A minute of the page's own clock, in which the service's heartbeats and counts would come too late.
    await page.goto(service.url);
    await page.getByText('As a table').waitFor();
    // Without live counts the page asks more often: those of the whole installation and of its pipelines.
    await expect.poll(() => counts.size).toBeGreaterThan(1);
    requests = 0;
    for (let second = 0; second < 60; second++) {
      await page.clock.runFor(1_000);
      if (second % 10 === 0) beat();
    }
    expect(requests).toBeLessThan(20);
  });
});
