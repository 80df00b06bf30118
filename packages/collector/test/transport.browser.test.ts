import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { aPipeline, call, isSending, KEY, Stage } from './fixtures.ts';
import type { Recorded } from './ingest.ts';

const stage = new Stage();
const { ingest } = stage;
beforeAll(() => stage.start());
afterAll(() => stage.stop());
beforeEach(() => stage.reset());

const names = () => ingest.accepted.map((event) => event.event ?? event.type);
const stored = (page: Page) => page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('_df_q')).length);
const nothingLeft = (page: Page) => expect.poll(async () => (await stored(page)) === 0 && !(await isSending(page))).toBe(true);
const burst = (page: Page, prefix: string, count: number) =>
  page.evaluate(
    ([name, n]) => {
      const df = (window as unknown as { _df: { track(name: string, properties: object): void } })._df;
      for (let i = 0; i < n; i++) df.track(name + i, { i, text: 'x'.repeat(200) });
    },
    [prefix, count] as const,
  );
/** The response to a beacon cannot be read, and the browser logs that. */
const isBeacon = (request: Recorded) => request.headers['sec-fetch-mode'] === 'no-cors';
/** A page whose page view has already been sent. */
async function ready(path = '/', host = 'localhost'): Promise<Page> {
  const before = ingest.accepted.length;
  const page = await stage.open(path, host);
  await ingest.waitFor((events) => events.length > before);
  await expect.poll(() => isSending(page)).toBe(false);
  return page;
}
/** The same, with a fake clock. */
async function readyWithClock(path = '/', host = 'localhost'): Promise<Page> {
  const page = await stage.context.newPage();
  const before = ingest.accepted.length;
  await page.clock.install();
  await page.goto(stage.url(path, host));
  await ingest.waitFor((events) => events.length > before);
  await expect.poll(() => isSending(page)).toBe(false);
  await page.clock.pauseAt(Date.now() + 5_000);
  return page;
}
/** A failure with a wait so long that the page does not retry before it is left, even on a slow machine. */
const failing = (status: number) => ({ status, headers: { 'Retry-After': '600' } });
/**
 * After a response: checks that nothing is sent before this time has passed, and that the next request is sent after it. That request is
 * answered only when the page's clock stands still again, so that the start of the next wait is known.
 */
async function nextAfter(page: Page, atLeastMs: number, atMostMs: number): Promise<void> {
  await expect.poll(() => isSending(page)).toBe(false);
  const before = ingest.requests.length;
  await page.clock.runFor(atLeastMs - 1);
  expect(await isSending(page)).toBe(false);
  const answer = ingest.holdAnswers();
  await page.clock.runFor(atMostMs - atLeastMs + 1);
  await expect.poll(() => ingest.requests.length).toBe(before + 1);
  answer();
}

describe('a server that fails', () => {
  test('is retried with the same event after 1 s, doubled up to 60 s, plus at most 25 % jitter', async () => {
    await stage.serve(aPipeline());
    const page = await readyWithClock();
    const waits = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];
    const first = ingest.requests.length;
    ingest.behave = (_, nth) => ({ status: nth - first <= waits.length ? 503 : 200 });
    await call(page, 'track', 'T');
    await page.clock.runFor(1);
    await expect.poll(() => ingest.requests.length).toBe(first + 1);
    for (const ms of waits) await nextAfter(page, ms, ms * 1.25);
    const tries = ingest.requests.slice(first);
    expect(tries.map((one) => one.status)).toEqual([...waits.map(() => 503), 200]);
    expect(new Set(tries.map((one) => one.events[0]!.messageId)).size).toBe(1);
    await nothingLeft(page);
    await call(page, 'track', 'After');
    await page.clock.runFor(1);
    await ingest.waitFor(() => names().includes('After'));
  });

  test('may request a longer wait with Retry-After, in seconds or as a date', async () => {
    await stage.serve(aPipeline());
    const page = await readyWithClock();
    const first = ingest.requests.length;
    const date = await page.evaluate(() => new Date(Date.now() + 3000 + 30_000).toUTCString());
    ingest.behave = (_, nth) => {
      if (nth === first + 1) return { status: 429, headers: { 'Retry-After': '3' } };
      if (nth === first + 2) return { status: 503, headers: { 'Retry-After': date } };
      return { status: 200 };
    };
    await call(page, 'track', 'T');
    await page.clock.runFor(1);
    await expect.poll(() => ingest.requests.length).toBe(first + 1);
    await expect.poll(() => isSending(page)).toBe(false);
    await page.evaluate(() => window.dispatchEvent(new Event('online'))); // must not shorten it
    await nextAfter(page, 3000, 3001);
    await nextAfter(page, 28_990, 30_000); // dates have whole seconds
    expect(ingest.requests.slice(first).map((one) => one.status)).toEqual([429, 503, 200]);
    await ingest.waitFor(() => names().includes('T'));
  });

  test.each([400, 401, 403, 404])('%i is final: the page is notified, and the next event is sent', async (status) => {
    await stage.serve(aPipeline());
    const page = await ready();
    await page.evaluate(() => {
      const w = window as unknown as { _df: { on(name: string, handler: (json: string) => void): void }; lost: string[] };
      w.lost = [];
      w._df.on('error', (json) => w.lost.push(JSON.parse(json).event));
    });
    ingest.behave = (request) => ({ status: request.events[0]!.event === 'Bad' ? status : 200 });
    await call(page, 'track', 'Bad');
    await page.waitForFunction('window.lost.length === 1');
    await call(page, 'track', 'Good');
    await ingest.waitFor(() => names().includes('Good'));
    expect(await page.evaluate('window.lost')).toEqual(['Bad']);
    expect(ingest.requests.filter((one) => one.events[0]!.event === 'Bad')).toHaveLength(1);
  });

  test('a batch that is too large is split until it fits', async () => {
    await stage.serve(aPipeline());
    const page = await ready();
    ingest.behave = (request) => ({ status: request.events.length > 3 ? 413 : 200 });
    await burst(page, 'S', 20);
    await ingest.waitFor((events) => events.length === 21);
    expect(names().slice(1)).toEqual(Array.from({ length: 20 }, (_, i) => `S${i}`));
  });

  test('a request without a response is aborted after 20 s', async () => {
    await stage.serve(aPipeline());
    const page = await ready();
    // A faster AbortSignal.timeout that records its argument.
    await page.evaluate(() => {
      const real = AbortSignal.timeout.bind(AbortSignal);
      AbortSignal.timeout = (ms) => {
        (window as unknown as { limit: number }).limit = ms;
        AbortSignal.timeout = real;
        return real(ms / 100);
      };
    });
    const first = ingest.requests.length;
    ingest.behave = (_, nth) => (nth === first + 1 ? 'hang' : { status: 200 });
    await call(page, 'track', 'T');
    await ingest.waitFor(() => names().includes('T'));
    expect(await page.evaluate('window.limit')).toBe(20_000);
    const [hung, good] = ingest.requests.slice(first);
    expect(good!.at - hung!.at).toBeGreaterThan(1000);
    expect(good!.events[0]!.messageId).toBe(hung!.events[0]!.messageId);
  });
});

test('1,000 events in a burst arrive once each, in order', async () => {
  await stage.serve(aPipeline());
  const page = await ready();
  await burst(page, 'B', 1000);
  await ingest.waitFor((events) => events.length >= 1001, '1,001 events');
  await nothingLeft(page);
  expect(names().slice(1)).toEqual(Array.from({ length: 1000 }, (_, i) => `B${i}`));
});

test('events that could not be sent survive a reload', async () => {
  await stage.serve(aPipeline());
  const page = await ready();
  ingest.behave = () => failing(503);
  const before = ingest.requests.length;
  await call(page, 'track', 'Kept');
  await expect.poll(() => ingest.requests.length).toBe(before + 1);
  const [kept] = ingest.requests.at(-1)!.events;
  ingest.behave = () => ({ status: 200 });
  await page.reload();
  await ingest.waitFor(() => names().includes('Kept'));
  expect(ingest.accepted.filter((event) => event.event === 'Kept').map((event) => event.messageId)).toEqual([kept!.messageId]);
});

describe('the first request of a page', () => {
  const first = () => ingest.requests[0]!.events[0]!.messageId;
  /** Pauses the page's clock, so that no response is late on a slow machine. */
  const openWithoutTime = async () => {
    const page = await stage.context.newPage();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.goto(stage.url());
    return page;
  };
  const sameAgain = () => ingest.waitFor((events) => events.some((event) => event.messageId === first()));

  test('stores nothing on the device if the response is in time', async () => {
    await stage.serve(aPipeline());
    stage.site.pages.set('/watch', { html: '<script>seen = []; onstorage = (event) => seen.push(event.key)</script>' });
    const watch = await stage.open('/watch');
    const page = await openWithoutTime();
    await ingest.waitFor((events) => events.length === 1);
    await expect.poll(() => isSending(page)).toBe(false);
    // Storage events arrive in the order of the changes.
    await page.evaluate(() => Object.assign(localStorage, { last: '1' }));
    await watch.waitForFunction(`seen.includes('last')`);
    expect(await watch.evaluate('seen')).toEqual(['_df_id', 'last']);
  });

  test('that is too large for keepalive stores its events on the device before it is sent', async () => {
    await stage.serve(aPipeline(), {
      head: `<script>window._df = Array.from({ length: 150 }, (_, i) => ['track', 'E' + i])</script>`,
    });
    const answer = ingest.holdAnswers();
    const page = await openWithoutTime();
    await expect.poll(() => ingest.requests.length).toBe(1);
    expect(await stored(page)).toBe(151);
    answer();
    await ingest.waitFor((events) => events.length === 151);
    await nothingLeft(page);
  });

  test('whose response is late keeps its events on the device until then, and no other page takes them', async () => {
    await stage.serve(aPipeline());
    const answer = ingest.holdAnswers();
    const page = await stage.open();
    await expect.poll(() => stored(page)).toBe(1);
    expect(await page.evaluate(() => Object.keys(localStorage).some((key) => /^_df_l/.test(key) && +localStorage[key] > Date.now()))).toBe(
      true,
    );
    answer();
    await nothingLeft(page);
    expect(ingest.requests).toHaveLength(1);
  });

  test('that must be retried keeps its events on the device, and they survive the page', async () => {
    await stage.serve(aPipeline());
    ingest.behave = () => failing(503);
    const page = await stage.open();
    await expect.poll(() => stored(page)).toBe(1);
    ingest.behave = () => ({ status: 200 });
    await page.reload();
    await sameAgain();
  });

  test('that had no response when the page was left is repeated by the next page', async () => {
    await stage.serve(aPipeline());
    ingest.behave = () => 'hang';
    const page = await stage.open();
    await expect.poll(() => ingest.requests.length).toBe(1);
    ingest.behave = () => ({ status: 200 });
    await page.goto(stage.url('/next'));
    await sameAgain();
  });

  test('of an offline page keeps its events on the device, and sends them when online', async () => {
    await stage.serve(aPipeline(), {
      head: `<script>Object.defineProperty(navigator, 'onLine', { value: false, configurable: true })</script>`,
    });
    const page = await stage.open();
    await expect.poll(() => stored(page)).toBe(1);
    expect(ingest.requests).toHaveLength(0);
    await page.evaluate(() => {
      Object.defineProperty(navigator, 'onLine', { value: true });
      window.dispatchEvent(new Event('online'));
    });
    await ingest.waitFor((events) => events.length === 1);
    await nothingLeft(page);
  });

  test('a page that becomes hidden stores its events on the device immediately', async () => {
    await stage.serve(aPipeline());
    const answer = ingest.holdAnswers();
    const page = await openWithoutTime();
    await expect.poll(() => ingest.requests.length).toBe(1);
    expect(await stored(page)).toBe(0);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    expect(await stored(page)).toBe(1);
    answer();
    await nothingLeft(page);
  });
});

test('events are kept while offline and sent when the connection is back', async () => {
  await stage.serve(aPipeline());
  const page = await readyWithClock();
  await stage.context.setOffline(true);
  await page.waitForFunction('!navigator.onLine', undefined, { polling: 20 });
  const before = ingest.requests.length;
  await burst(page, 'O', 5);
  await page.clock.runFor(100_000);
  expect(await isSending(page)).toBe(false);
  expect(ingest.requests).toHaveLength(before);
  expect(await stored(page)).toBe(5);
  await page.clock.resume();
  await stage.context.setOffline(false);
  await ingest.waitFor(() => names().filter((name) => /^O/.test(name)).length === 5);
  expect(names().slice(-5)).toEqual(['O0', 'O1', 'O2', 'O3', 'O4']);
});

test('the queue is bounded: the oldest events are dropped, and the page is notified', async () => {
  await stage.serve(aPipeline());
  const page = await ready();
  await stage.context.setOffline(true);
  await page.evaluate(() => {
    const w = window as unknown as { _df: { on(name: string, handler: () => void): void }; lost: number };
    w.lost = 0;
    w._df.on('error', () => w.lost++);
  });
  await burst(page, 'Q', 2500);
  const kept = await stored(page);
  expect(kept).toBeLessThanOrEqual(2100);
  expect(kept).toBeGreaterThanOrEqual(1900);
  expect(await page.evaluate('window.lost')).toBe(2500 - kept);
  await stage.context.setOffline(false);
  await ingest.waitFor(() => names().includes('Q2499'), 'the newest');
  expect(names()[1]).toBe(`Q${2500 - kept}`);
});

describe('leaving', () => {
  test('an event tracked while leaving is sent as a beacon with the key in its body', async () => {
    await stage.serve(aPipeline());
    const page = await ready();
    await page.evaluate(() => {
      const df = (window as unknown as { _df: { track(name: string): void } })._df;
      window.addEventListener('pagehide', () => df.track('Bye'));
      df.track('Click');
      location.href = '/next';
    });
    await ingest.waitFor(
      () => ['Click', 'Bye'].every((name) => names().includes(name)) && names().filter((n) => n === 'page').length === 2,
    );
    await nothingLeft(page);
    const bye = ingest.requests.find((one) => one.events.some((event) => event.event === 'Bye'))!;
    expect(isBeacon(bye)).toBe(true);
    expect(bye.headers['content-type']).toMatch(/^text\/plain/);
    expect(bye.headers.authorization).toBeUndefined();
    expect(bye.body.writeKey).toBe(KEY);
    // Leaving may have interrupted the request of the click: then the next page repeats the same event.
    const both = ingest.accepted.filter((event) => event.event === 'Bye' || event.event === 'Click');
    expect(new Set(both.map((event) => event.messageId)).size).toBe(2);
  });

  test('a tab closed in the middle of a request loses nothing', async () => {
    await stage.serve(aPipeline());
    const page = await ready();
    ingest.behave = () => 'hang';
    await call(page, 'track', 'Mid');
    const hasSent = (name: string) => ingest.requests.some((one) => one.events.some((event) => event.event === name));
    await expect.poll(() => hasSent('Mid')).toBe(true);
    await call(page, 'track', 'Behind');
    await page.close({ runBeforeUnload: false });
    await expect.poll(() => hasSent('Behind')).toBe(true);
    // Queued events were sent as a beacon. The request in flight had no response, so the next page repeats it with the same ids.
    ingest.behave = () => ({ status: 200 });
    await ready('/next');
    await ingest.waitFor(() => names().includes('Mid'));
    const mids = ingest.requests.flatMap((one) => one.events).filter((event) => event.event === 'Mid');
    expect(new Set(mids.map((event) => event.messageId)).size).toBe(1);
  });

  test('while the server is failing, stored events stay for the next page instead of being sent as beacons', async () => {
    await stage.serve(aPipeline());
    const page = await ready();
    ingest.behave = () => failing(500);
    await call(page, 'track', 'Wait');
    const tries = () => ingest.requests.filter((one) => one.events.some((event) => event.event === 'Wait'));
    await expect.poll(() => tries().length).toBe(1);
    await expect.poll(() => isSending(page)).toBe(false);
    await page.goto('about:blank');
    ingest.behave = () => ({ status: 200 });
    await ready('/next');
    await ingest.waitFor(() => names().includes('Wait'));
    // No beacon was sent, not even a late one.
    expect(tries().map(isBeacon)).toEqual([false, false]);
  });
});

test('an event interrupted by leaving is repeated by a page that follows soon, and later counts as received', async () => {
  await stage.serve(aPipeline());
  const page = await ready();
  await page.evaluate((key) => {
    for (const [name, agoMs] of [
      ['Soon', 60_000],
      ['Late', 3_600_000],
    ] as const) {
      const at = (Date.now() - agoMs).toString(36);
      localStorage[`_df_q${key}.${at}1000000._df_lgone.`] = JSON.stringify({
        type: 'track',
        event: name,
        messageId: name,
        anonymousId: 'a',
        context: {},
      });
    }
  }, KEY);
  await call(page, 'track', 'Now');
  await ingest.waitFor(() => names().includes('Soon'));
  expect(names()).toEqual(['page', 'Now', 'Soon']);
  // Wait until the page has the response, too.
  await nothingLeft(page);
});

describe('two tabs', () => {
  // A secure page, and one on plain http.
  test.each(['localhost', 'shop.test'])('of %s send everything, and nothing twice', async (host) => {
    await stage.serve(aPipeline());
    const one = await ready('/one', host);
    const two = await ready('/two', host);
    expect(await one.evaluate('isSecureContext')).toBe(host === 'localhost');
    ingest.behave = () => ({ status: 200 });
    await stage.context.setOffline(true);
    await Promise.all([burst(one, 'A', 150), burst(two, 'B', 150)]);
    await stage.context.setOffline(false);
    await Promise.all([burst(one, 'C', 50), burst(two, 'D', 50)]);
    await ingest.waitFor(() => new Set(ingest.accepted.map((event) => event.messageId)).size >= 402, '402 events');
    await Promise.all([nothingLeft(one), nothingLeft(two)]);
    const ids = ingest.requests.flatMap((request) => request.events.map((event) => event.messageId));
    expect(new Set(ids).size).toBe(402);
    expect(ids).toHaveLength(402);
  });

  test('when one closes, the other sends its events', async () => {
    await stage.serve(aPipeline());
    const one = await ready('/one');
    const two = await ready('/two');
    const before = ingest.requests.length;
    ingest.behave = () => failing(503);
    await call(one, 'track', 'Left');
    await expect.poll(() => ingest.requests.length).toBe(before + 1);
    ingest.behave = () => ({ status: 200 });
    await one.close();
    await call(two, 'track', 'Own');
    await ingest.waitFor(() => names().includes('Left') && names().includes('Own'));
  });

  test('that find events of a third one send each once', async () => {
    await stage.serve(aPipeline());
    const gone = await ready('/gone', 'shop.test');
    await stage.context.setOffline(true);
    await burst(gone, 'L', 300);
    await gone.goto('about:blank');
    await stage.context.setOffline(false);
    const pages = await Promise.all(['/one', '/two', '/three'].map((path) => stage.open(path, 'shop.test')));
    await ingest.waitFor(() => names().filter((name) => /^L/.test(name)).length >= 300, '300 events');
    await Promise.all(pages.map(nothingLeft));
    const left = ingest.requests.flatMap((request) => request.events.map((event) => event.event!)).filter((name) => /^L/.test(name));
    expect(left).toEqual(Array.from({ length: 300 }, (_, i) => `L${i}`));
  });

  test('do not take each other’s events while both are open', async () => {
    await stage.serve(aPipeline());
    const one = await readyWithClock('/one', 'shop.test');
    const tries = () => ingest.requests.filter((request) => request.events.some((event) => event.event === 'Mine'));
    ingest.behave = (request) =>
      request.events[0]!.event === 'Mine' && tries().length === 1 ? { status: 503, headers: { 'Retry-After': '5' } } : { status: 200 };
    await call(one, 'track', 'Mine');
    await one.clock.runFor(1);
    await expect.poll(() => tries().length).toBe(1);
    await expect.poll(() => isSending(one)).toBe(false);
    const two = await stage.open('/two', 'shop.test');
    await two.waitForFunction('window._df && window._df.track');
    await two.clock.runFor(1); // both pages share the clock
    await ingest.waitFor((events) => events.length === 2);
    // Wait longer than the other page waits for an answer. Writes of one process are seen in another a little later, and the fake clock
    // does not wait for that.
    const holdsOn = () =>
      two.evaluate(() => Object.keys(localStorage).some((key) => /^_df_l/.test(key) && +localStorage[key] > Date.now() + 10_000));
    await expect.poll(holdsOn).toBe(true);
    await two.clock.runFor(4000);
    expect(await stored(two)).toBe(1);
    expect(tries().map(({ status }) => status)).toEqual([503]);
    await one.clock.runFor(1250);
    await ingest.waitFor(() => names().includes('Mine'));
    await Promise.all([nothingLeft(one), nothingLeft(two)]);
    expect(tries().map(({ status }) => status)).toEqual([503, 200]);
  });
});
