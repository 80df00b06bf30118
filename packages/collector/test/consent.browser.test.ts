import type { ConsentConfig } from '@firsthand/core/config/resources.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { aPipeline, call, isSending, KEY, Stage } from './fixtures.ts';

const stage = new Stage();
const { ingest } = stage;
beforeAll(() => stage.start());
afterAll(() => stage.stop());
beforeEach(() => stage.reset());

const loaded = (page: Page) => page.waitForFunction('window._df && window._df.track');

/** Fake consent tools: `load` does what the tool's script does, `change` what a click in its banner does. */
const TOOLS: Record<string, { provider: ConsentConfig['provider']; load: string; first: object; change: string; second: object }> = {
  OneTrust: {
    provider: 'onetrust',
    load: `OnetrustActiveGroups = ',C0001,C0002,';
      OneTrust = { GetDomainData: () => ({ Groups: ['C0001', 'C0002', 'C0004'].map((CustomGroupId) => ({ CustomGroupId })) }) };`,
    first: { C0001: true, C0002: true, C0004: false },
    change: `OnetrustActiveGroups = ',C0001,C0002,C0004,'; window.dispatchEvent(new CustomEvent('OneTrustGroupsUpdated', { detail: [] }));`,
    second: { C0001: true, C0002: true, C0004: true },
  },
  Cookiebot: {
    provider: 'cookiebot',
    load: `Cookiebot = { hasResponse: true, consent: { necessary: true, preferences: false, statistics: true, marketing: false, stamp: 'x', method: 'explicit' } };`,
    first: { necessary: true, preferences: false, statistics: true, marketing: false },
    change: `Cookiebot.consent.marketing = true; window.dispatchEvent(new Event('CookiebotOnAccept'));`,
    second: { necessary: true, preferences: false, statistics: true, marketing: true },
  },
  'Usercentrics 3': {
    provider: 'usercentrics',
    load: `ucConsent = { required: false, status: 'SOME_ACCEPTED', type: 'EXPLICIT' };
      ucState = { essential: { state: 'ALL_ACCEPTED', dps: {} }, marketing: { state: 'SOME_ACCEPTED', dps: {} } };
      __ucCmp = { getConsentDetails: () => Promise.resolve({ consent: ucConsent, services: {}, categories: ucState }) };`,
    first: { essential: true, marketing: false },
    change: `ucState.marketing.state = 'ALL_ACCEPTED'; window.dispatchEvent(new CustomEvent('UC_UI_CMP_EVENT', { detail: { type: 'SAVE' } }));`,
    second: { essential: true, marketing: true },
  },
  'Usercentrics 2': {
    provider: 'usercentrics',
    load: `ucServices = [{ categorySlug: 'marketing', consent: { status: true } }, { categorySlug: 'marketing', consent: { status: false } },
        { categorySlug: 'essential', consent: { status: true } }];
      ucRequired = false;
      UC_UI = { isInitialized: () => true, isConsentRequired: () => ucRequired, getServicesBaseInfo: () => ucServices };`,
    first: { marketing: false, essential: true },
    change: `ucServices[1].consent.status = true; window.dispatchEvent(new CustomEvent('UC_UI_CMP_EVENT', { detail: { type: 'ACCEPT_ALL' } }));`,
    second: { marketing: true, essential: true },
  },
  Didomi: {
    provider: 'didomi',
    load: `didomiEventListeners = []; didomiStatus = { cookies: { id: 'cookies', enabled: true }, ads: { id: 'ads', enabled: false } };
      Didomi = { shouldUserStatusBeCollected: () => false, getCurrentUserStatus: () => ({ purposes: didomiStatus, vendors: {} }) };`,
    first: { cookies: true, ads: false },
    change: `didomiStatus.ads.enabled = true; didomiEventListeners.filter((one) => one.event === 'consent.changed').forEach((one) => one.listener({}));`,
    second: { cookies: true, ads: true },
  },
  Osano: {
    provider: 'osano',
    load: `osano = { state: { ESSENTIAL: 'ACCEPT', MARKETING: 'DENY' }, listeners: {} };
      Osano = { cm: { getConsent: () => osano.state, addEventListener: (name, handler) => { osano.listeners[name] = handler; } } };`,
    first: { ESSENTIAL: true, MARKETING: false },
    change: `osano.state = { ESSENTIAL: 'ACCEPT', MARKETING: 'ACCEPT' }; osano.listeners['osano-cm-consent-saved']({});`,
    second: { ESSENTIAL: true, MARKETING: true },
  },
  TCF: {
    provider: 'tcf',
    load: `tcf = { listeners: [], tell(consents, eventStatus) { tcf.listeners.forEach((one) => one({ eventStatus, gdprApplies: true, purpose: { consents } }, true)); } };
      __tcfapi = (command, version, callback) => { tcf.listeners.push(callback); callback({ eventStatus: 'cmpuishown', gdprApplies: true, purpose: { consents: {} } }, true);
        setTimeout(() => tcf.tell({ 1: true, 7: true }, 'tcloaded'), 50); };`,
    first: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`purpose_${i + 1}`, i === 0 || i === 6])),
    change: `tcf.tell({ 1: true, 7: true, 10: true }, 'useractioncomplete');`,
    second: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`purpose_${i + 1}`, i === 0 || i === 6 || i === 9])),
  },
  'Google consent mode': {
    provider: 'google_consent_mode',
    load: `dataLayer = window.dataLayer || []; function gtag() { dataLayer.push(arguments); }
      gtag('consent', 'default', { ad_storage: 'denied', analytics_storage: 'denied', wait_for_update: 500 }); gtag('consent', 'update', { analytics_storage: 'granted' });`,
    first: { ad_storage: 'denied', analytics_storage: 'granted' },
    change: `gtag('consent', 'update', { ad_storage: 'granted' });`,
    second: { ad_storage: 'granted', analytics_storage: 'granted' },
  },
};

describe.each(Object.entries(TOOLS))('%s', (_, tool) => {
  test.each(['named', 'auto'] as const)('%s: events wait for it, and a change is sent on', async (mode) => {
    const provider = mode === 'named' ? tool.provider : 'auto';
    await stage.serve(aPipeline({ consent_config: { provider: provider!, wait_ms: 60_000 } }));
    const page = await stage.open();
    await call(page, 'track', 'Early');
    await loaded(page);
    expect(ingest.requests).toHaveLength(0);
    await page.addScriptTag({ content: tool.load });
    const events = await ingest.waitFor((all) => all.length === 2);
    expect(events.map((event) => event.context.consent)).toEqual([{ categories: tool.first }, { categories: tool.first }]);
    await page.evaluate(tool.change);
    const after = await ingest.waitFor((all) => all.length === 3);
    expect(after[2]).toMatchObject({ type: 'track', event: 'Consent Updated', properties: { categories: tool.second } });
    expect(after[2]!.context.consent).toEqual({ categories: tool.second });
  });
});

test('auto: the consent tool has precedence over TCF and consent mode', async () => {
  await stage.serve(aPipeline({ consent_config: { provider: 'auto', wait_ms: 400 } }), {
    head: `<script>${TOOLS['Google consent mode']!.load}${TOOLS.TCF!.load}</script>`,
  });
  const page = await stage.open();
  const [view] = await ingest.waitFor((all) => all.length >= 1);
  expect(view!.context.consent.categories).toMatchObject({ analytics_storage: 'granted' });
  await page.addScriptTag({ content: TOOLS.Cookiebot!.load });
  await ingest.waitFor((all) => all.some((event) => 'statistics' in ((event.properties?.categories as object) ?? {})));
  await page.evaluate(TOOLS['Google consent mode']!.change);
  await call(page, 'track', 'T');
  const events = await ingest.waitFor((all) => all.some((event) => event.event === 'T'));
  expect(events.find((event) => event.event === 'T')!.context.consent.categories).toEqual(TOOLS.Cookiebot!.first);
});

test('after wait_ms events are sent without consent, and later consent is sent too', async () => {
  await stage.serve(aPipeline({ consent_config: { provider: 'cookiebot', wait_ms: 500 } }));
  const start = performance.now();
  const page = await stage.open();
  const [view] = await ingest.waitFor((all) => all.length === 1);
  expect(performance.now() - start).toBeGreaterThanOrEqual(499);
  expect(view!.context).not.toHaveProperty('consent');
  await page.addScriptTag({ content: TOOLS.Cookiebot!.load });
  const events = await ingest.waitFor((all) => all.length === 2);
  expect(events[1]).toMatchObject({ event: 'Consent Updated', context: { consent: { categories: TOOLS.Cookiebot!.first } } });
});

test('a tool that loads between two checks, just before the wait ends, is still detected', async () => {
  await stage.serve(aPipeline({ consent_config: { provider: 'cookiebot', wait_ms: 2000 } }));
  const page = await stage.context.newPage();
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.goto(stage.url());
  await page.clock.runFor(1700); // the last check was at 1.6 s, the next one would be at 2.4 s
  await page.evaluate(TOOLS.Cookiebot!.load);
  await page.clock.runFor(299);
  expect(ingest.requests).toHaveLength(0);
  await page.clock.runFor(2);
  const [view] = await ingest.waitFor((all) => all.length === 1);
  expect(view!.context.consent).toEqual({ categories: TOOLS.Cookiebot!.first });
});

test('consent mode defaults count after the wait, and a denial overrides a grant for another region', async () => {
  await stage.serve(aPipeline({ consent_config: { provider: 'google_consent_mode', wait_ms: 400 } }), {
    head: `<script>dataLayer = []; function gtag() { dataLayer.push(arguments) }
      gtag('consent', 'default', { analytics_storage: 'granted', ad_storage: 'denied', region: ['FR'] });
      gtag('consent', 'default', { ad_storage: 'granted' })</script>`,
  });
  const page = await stage.open();
  const [view] = await ingest.waitFor((all) => all.length === 1);
  expect(view!.context.consent).toEqual({ categories: { analytics_storage: 'granted', ad_storage: 'denied' } });
  await page.evaluate(`gtag('consent', 'update', { ad_storage: 'granted' })`);
  const events = await ingest.waitFor((all) => all.length === 2);
  expect(events[1]!.properties).toEqual({ categories: { analytics_storage: 'granted', ad_storage: 'granted' } });
});

test.each([
  ['Usercentrics 3', 'ucConsent.required = true', 'ucConsent.required = false'],
  ['Usercentrics 2', 'ucRequired = true', 'ucRequired = false'],
])('%s: what is only assumed before the visitor answers does not count', async (name, before, answered) => {
  await stage.serve(aPipeline({ consent_config: { provider: 'usercentrics', wait_ms: 400 } }), {
    head: `<script>${TOOLS[name]!.load};${before}</script>`,
  });
  const page = await stage.open();
  const [view] = await ingest.waitFor((all) => all.length === 1);
  expect(view!.context).not.toHaveProperty('consent');
  await page.evaluate(`${answered}; ${TOOLS[name]!.change}`);
  const events = await ingest.waitFor((all) => all.length === 2);
  expect(events[1]).toMatchObject({ event: 'Consent Updated', properties: { categories: TOOLS[name]!.second } });
});

test('Didomi that is loaded but not ready is polled, and reported once', async () => {
  await stage.serve(aPipeline({ consent_config: { provider: 'didomi', wait_ms: 6000 } }), {
    head: `<script>${TOOLS.Didomi!.load}; const status = Didomi.getCurrentUserStatus; tries = 0;
      Didomi.getCurrentUserStatus = () => { if (++tries < 4) throw new Error('not ready'); return status() }</script>`,
  });
  const page = await stage.open();
  const [view] = await ingest.waitFor((all) => all.length === 1);
  expect(view!.context.consent).toEqual({ categories: TOOLS.Didomi!.first });
  expect(await page.evaluate('didomiEventListeners.length')).toBe(1);
});

test('a page left while events wait does not lose them', async () => {
  await stage.serve(aPipeline({ consent_config: { provider: 'cookiebot', wait_ms: 60_000 } }));
  const page = await stage.open();
  await loaded(page);
  await call(page, 'track', 'T');
  await page.goto('about:blank');
  const events = await ingest.waitFor((all) => all.length === 2);
  expect(events.map((event) => event.event ?? event.type)).toEqual(['page', 'T']);
});

describe('custom', () => {
  test('a callback may report consent several times', async () => {
    await stage.serve(aPipeline({ consent_config: { provider: 'custom', wait_ms: 60_000 } }), {
      head: `<script>window._df = [['consent', function (tell) { window.tell = tell }]]</script>`,
    });
    const page = await stage.open();
    await page.waitForFunction('window.tell');
    expect(ingest.requests).toHaveLength(0);
    await page.evaluate(`tell(['analytics'])`);
    const [view] = await ingest.waitFor((all) => all.length === 1);
    expect(view!.context.consent).toEqual({ categories: ['analytics'] });
    await page.evaluate(`tell(['analytics', 'marketing'])`);
    const events = await ingest.waitFor((all) => all.length === 2);
    expect(events[1]!.properties).toEqual({ categories: ['analytics', 'marketing'] });
    // The next page reads it from storage.
    await page.reload();
    const later = await ingest.waitFor((all) => all.length === 3);
    expect(later[2]!.context.consent).toEqual({ categories: ['analytics', 'marketing'] });
  });

  test('without configuration the page may still report consent, and repeats are sent once', async () => {
    await stage.serve(aPipeline());
    const page = await stage.open();
    await ingest.waitFor((all) => all.length === 1);
    await call(page, 'consent', { analytics: true });
    await call(page, 'consent', { analytics: true });
    await call(page, 'track', 'T');
    const events = await ingest.waitFor((all) => all.some((event) => event.event === 'T'));
    expect(events.map((event) => event.event ?? event.type)).toEqual(['page', 'Consent Updated', 'T']);
  });
});

describe('required_category', () => {
  const pipeline = aPipeline({ consent_config: { provider: 'cookiebot', wait_ms: 300, required_category: 'analytics' } });
  const state = () => `Object.keys(localStorage).filter((key) => key.startsWith('_df')).length + document.cookie.includes('_df_id')`;

  test('nothing is stored on the device until consent is granted, but events are sent', async () => {
    ingest.setsCookies = false;
    await stage.serve(pipeline);
    const page = await stage.open();
    const [view] = await ingest.waitFor((all) => all.length === 1);
    // One request at a time: the next one is sent only after the first response was handled.
    await call(page, 'track', 'Next');
    await ingest.waitFor((all) => all.length === 2);
    expect(await page.evaluate(state())).toBe(0);
    await page.addScriptTag({ content: TOOLS.Cookiebot!.load }); // statistics means analytics
    await ingest.waitFor((all) => all.length === 3);
    await expect.poll(() => page.evaluate('document.cookie')).toContain('_df_id');
    await page.reload();
    const events = await ingest.waitFor((all) => all.length === 4);
    expect(new Set(events.map((event) => event.anonymousId))).toEqual(new Set([view!.anonymousId]));
  });

  test('until then stored events of other pages are not touched', async () => {
    await stage.serve(pipeline);
    stage.site.pages.set('/before', { html: '<p>before</p>' });
    const page = await stage.open('/before');
    const left = { type: 'track', event: 'Left', messageId: 'm-1', anonymousId: 'a', context: {} };
    await page.evaluate(
      ([key, json]) => {
        localStorage[`_df_q${key}.${Date.now().toString(36)}1000000._df_lgone`] = json;
        localStorage.their_df_q = 'theirs';
      },
      [KEY, JSON.stringify(left)] as const,
    );
    const names = () => ingest.accepted.map((event) => event.event ?? event.type);
    await page.clock.install();
    await page.goto(stage.url('/'));
    await ingest.waitFor(() => names().includes('page'));
    await page.clock.runFor(30_000);
    await call(page, 'track', 'Next');
    await ingest.waitFor(() => names().includes('Next'));
    // The page's clock ran ahead of the network, so requests in flight may have been repeated.
    expect(names()).not.toContain('Left');
    await page.addScriptTag({ content: TOOLS.Cookiebot!.load });
    await page.clock.resume();
    await ingest.waitFor(() => names().includes('Left'));
    expect(await page.evaluate('localStorage.their_df_q')).toBe('theirs');
  });

  /** The visitor grants consent and withdraws it; the denial has been sent. */
  const denied = async () => {
    await stage.serve(pipeline, { head: `<script>${TOOLS.Cookiebot!.load}</script>` });
    const page = await stage.open();
    await ingest.waitFor((all) => all.length === 1);
    await expect.poll(() => page.evaluate('document.cookie')).toContain('_df_id');
    await page.evaluate(`Cookiebot.consent.statistics = false; window.dispatchEvent(new Event('CookiebotOnDecline'))`);
    const events = await ingest.waitFor((all) => all.length === 2);
    expect(events[1]!.context.consent.categories.statistics).toBe(false);
    return page;
  };

  test('a cookie set by a response after a denial is removed too', async () => {
    // The response to the denial sets the cookie again, as the response to a request in flight may.
    const page = await denied();
    await expect.poll(() => isSending(page)).toBe(false);
    await expect.poll(() => page.evaluate('document.cookie')).not.toContain('_df_id');
  });

  test('a denial removes stored data', async () => {
    ingest.setsCookies = false;
    const page = await denied();
    await call(page, 'track', 'Next');
    await ingest.waitFor((all) => all.length === 3);
    expect(await page.evaluate(state())).toBe(0);
  });
});
