import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JS_BUILDER_DEFAULTS } from '../config/collector-settings.ts';
import { DEFAULT_DATA_LAYER } from '../config/resources.ts';
import { idConsentOf, readSyncs } from '../context/vendor-syncs.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import { compileConsent } from '../privacy/consent.ts';
import { applyMemory, type ClickConsent, compileMemory } from './memory.ts';
import { applySession } from './session.ts';
import { hasOutlived, type VisitorState, worthSaving } from './visitor.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const GRANTED = { consent: { canonical: { advertising: true, analytics: true } } };
const DENIED = { consent: { canonical: { advertising: false, analytics: false } } };

interface Visit {
  day: number;
  context?: JsonObject;
  over?: Partial<CanonicalEvent>;
  cookies?: Record<string, string>;
}

/** The context of the last event, and what is remembered after it. */
function walk(visits: Visit[], days: Record<string, number> = {}, consent: ClickConsent = {}, syncs: object = {}) {
  const js_builder_config = { ...JS_BUILDER_DEFAULTS, vendor_syncs: syncs as typeof JS_BUILDER_DEFAULTS.vendor_syncs };
  const id_consent = idConsentOf(readSyncs({ identity_config: { vendor_sync: {} }, js_builder_config }));
  const memory = compileMemory(days, consent);
  let state: VisitorState = {};
  let last: CanonicalEvent | undefined;
  for (const { day, context = {}, over, cookies } of visits) {
    last = { event_id: 'e', type: 'track', event: 'X', timestamp: '', context: structuredClone(context), ...over };
    const input = { received_at: START + day * DAY, cookies, id_consent, consent: compileConsent(DEFAULT_DATA_LAYER.consent) };
    state = applyMemory(last, input, memory, state, []);
  }
  return { context: last?.context ?? {}, state };
}

describe('click ids', () => {
  const click = (context: JsonObject = GRANTED): Visit => ({ day: 0, context: { ...context, click_ids: { gclid: 'G1' } } });
  const cases: [name: string, visits: Visit[], expected: unknown, days?: Record<string, number>, consent?: ClickConsent][] = [
    ['an order after the click carries it', [click(), { day: 3, context: GRANTED }], { gclid: 'G1' }],
    ['not after the vendor’s 90 days', [click(), { day: 91, context: GRANTED }], undefined],
    [
      'LinkedIn: not after 30 days',
      [
        { day: 0, context: { ...GRANTED, click_ids: { li_fat_id: 'L' } } },
        { day: 31, context: GRANTED },
      ],
      undefined,
    ],
    ['the data layer shortens it', [click(), { day: 8, context: GRANTED }], undefined, { gclid: 7 }],
    ['the data layer lengthens it', [click(), { day: 200, context: GRANTED }], { gclid: 'G1' }, { default: 365 }],
    ['0 days: not at all', [click(), { day: 0, context: GRANTED }], undefined, { default: 0 }],
    ['not without consent', [click({}), { day: 1, context: GRANTED }], undefined],
    ['not on an event without consent', [click(), { day: 1 }], undefined],
    ['again with consent after an event of unknown consent', [click(), { day: 1 }, { day: 2, context: GRANTED }], { gclid: 'G1' }],
    ['a denial deletes it', [click(), { day: 1, context: DENIED }, { day: 2, context: GRANTED }], undefined],
    ['integrations that need no consent', [click({}), { day: 1 }], { gclid: 'G1' }, {}, { google_ads: [] }],
    ['…still not after a denial', [click({}), { day: 1, context: DENIED }, { day: 2 }], undefined, {}, { google_ads: [] }],
    [
      'the category of the integration',
      [click({ consent: { canonical: { marketing: true } } }), { day: 1, context: { consent: { canonical: { marketing: true } } } }],
      { gclid: 'G1' },
      {},
      { google_ads: ['marketing'] },
    ],
    [
      'a newer click replaces it',
      [click(), { day: 1, context: { ...GRANTED, click_ids: { gclid: 'G2' } } }, { day: 2, context: GRANTED }],
      { gclid: 'G2' },
    ],
    ['the event’s own click stays', [click(), { day: 1, context: { ...GRANTED, click_ids: { gclid: 'G2' } } }], { gclid: 'G2' }],
  ];
  test.each(cases)('%s', (_name, visits, expected, days, consent) => {
    expect(walk(visits, days, consent).context.click_ids).toEqual(expected);
  });
  test('its time is that of the click', () => {
    const { context } = walk([click(), { day: 3, context: { ...GRANTED, click_ids: { gclid: 'G1' } } }]);
    expect(context.click_id_times).toEqual({ gclid: '2026-01-01T00:00:00.000Z' });
  });
  describe('an event’s own click has a time also where nothing may be remembered', () => {
    const own = (day: number, context: JsonObject = {}): Visit => ({ day, context: { ...context, click_ids: { gclid: 'G1' } } });
    test.each<[string, Visit[], unknown]>([
      ['consent unknown: the time of receipt', [own(0), own(1)], { gclid: '2026-01-02T00:00:00.000Z' }],
      ['consent unknown, but remembered with consent', [own(0, GRANTED), own(3)], { gclid: '2026-01-01T00:00:00.000Z' }],
      [
        'another click than the remembered one',
        [own(0, GRANTED), { day: 3, context: { click_ids: { gclid: 'G2' } } }],
        { gclid: '2026-01-04T00:00:00.000Z' },
      ],
      ['none if advertising is denied', [own(0, DENIED)], undefined],
      [
        'the client’s own time stays',
        [own(0, { click_id_times: { gclid: '2025-12-24T00:00:00.000Z' } })],
        { gclid: '2025-12-24T00:00:00.000Z' },
      ],
    ])('%s', (_name, visits, expected) => {
      expect(walk(visits).context.click_id_times).toEqual(expected);
    });
    test('and nothing is remembered', () => {
      expect(walk([own(0)]).state.clicks).toBeUndefined();
    });
  });
  test.each([
    ['_gcl_aw', 'GCL.1767139200.abc-1', { gclid: 'abc-1' }, '2025-12-31T00:00:00.000Z'],
    ['_gcl_gb', 'GCL.1767139200.wb', { wbraid: 'wb' }, '2025-12-31T00:00:00.000Z'],
    ['_gcl_ag', 'GCL.1767139200.gb', { gbraid: 'gb' }, '2025-12-31T00:00:00.000Z'],
    ['_fbc', 'fb.1.1767139200000.IwAR', { fbclid: 'IwAR' }, '2025-12-31T00:00:00.000Z'],
    ['_fbc', 'fb.1.1767139200000.IwAR.AQEBAQIA', { fbclid: 'IwAR' }, '2025-12-31T00:00:00.000Z'],
    ['_uetmsclkid', '_uet123abc', { msclkid: '123abc' }, '2026-01-01T00:00:00.000Z'],
    ['_twclid', 'tw-1', { twclid: 'tw-1' }, '2026-01-01T00:00:00.000Z'],
  ])('the cookie %s of the Cookie header feeds the memory', (name, value, ids, time) => {
    const { context } = walk([
      { day: 0, context: GRANTED, cookies: { [name]: value } },
      { day: 1, context: GRANTED },
    ]);
    expect([context.click_ids, Object.values(context.click_id_times as object)]).toEqual([ids, [time]]);
  });
  test('at most 20 of at most 512 characters', () => {
    const many = Object.fromEntries(['gclid', 'gbraid', 'fbclid'].map((name) => [name, 'x'.repeat(513)]));
    expect(walk([{ day: 0, context: { ...GRANTED, click_ids: many } }]).state.clicks).toBeUndefined();
    const all = Object.fromEntries([...compileMemory({}, {}).clicks.keys()].map((name) => [name, 'x']));
    expect(Object.keys(walk([{ day: 0, context: { ...GRANTED, click_ids: all } }]).state.clicks ?? {})).toHaveLength(20);
  });
});

describe('browser ids', () => {
  test('a server event of the visitor carries the ids of the browser', () => {
    const { context } = walk([
      { day: 0, context: GRANTED, cookies: { _ttp: 'ttp-1', _fbp: 'fb.1.1.2', _ga: 'GA1.1.111.222' } },
      { day: 1, context: GRANTED },
    ]);
    expect(context.vendor_ids).toEqual({ ttp: 'ttp-1', fbp: 'fb.1.1.2', ga_client_id: '111.222' });
  });
  const clientIds = { fbp: 'fb.1.1.2', fbc: 'fb.1.1767139200000.IwAR', ttp: 't', ga4: { clientId: '1.2', sessionIds: { AAA: '17' } } };
  test.each<[string, JsonObject, Record<string, string> | undefined, unknown]>([
    [
      'are those of the cookies',
      { ...GRANTED, clientIds },
      undefined,
      { fbp: 'fb.1.1.2', fbc: 'fb.1.1767139200000.IwAR', ttp: 't', ga_client_id: '1.2', ga_session_id: '17', ga_sessions: { AAA: '17' } },
    ],
    ['the cookies of the request win', { ...GRANTED, clientIds: { fbp: 'sent' } }, { _fbp: 'cookie' }, { fbp: 'cookie' }],
    [
      'not those of a denied category',
      { consent: { canonical: { advertising: false, analytics: false } }, clientIds },
      undefined,
      undefined,
    ],
    ['nothing else', { clientIds: { other: 'x', fbp: 5, ga4: { clientId: 'x', sessionIds: ['y'] } } }, undefined, undefined],
  ])('the client ids of Jitsu: %s', (_name, context, cookies, ids) => {
    const { context: result } = walk([{ day: 0, context, ...(cookies && { cookies }) }]);
    expect(result.vendor_ids).toEqual(ids);
    expect(result.clientIds).toEqual(context.clientIds);
  });
  test('the sessions of several GA4 streams', () => {
    const cookies = { _ga_AAA: 'GS1.1.1700000000.3', _ga_BBB: 'GS2.1.s1700000009$o1' };
    expect(walk([{ day: 0, context: GRANTED, cookies }]).context.vendor_ids).toEqual({
      ga_sessions: { AAA: '1700000000', BBB: '1700000009' },
      ga_session_id: '1700000000',
    });
  });
  const FBP = { _fbp: 'fb.1.1.2' };
  const said = (marketing: boolean) => ({ consent: { canonical: { marketing, advertising: true } } });
  test.each<[string, object, JsonObject, unknown]>([
    ['a sync with a category: not while it is unknown', { meta: { enabled: true, consent_category: 'marketing' } }, {}, undefined],
    ['also if the sync is disabled', { meta: { enabled: false, consent_category: 'marketing' } }, {}, undefined],
    ['also by another name of the vendor', { facebook: { consent_category: 'marketing' } }, {}, undefined],
    ['not if it is denied', { meta: { consent_category: 'marketing' } }, said(false), undefined],
    ['if it is granted', { meta: { consent_category: 'marketing' } }, said(true), { fbp: 'fb.1.1.2' }],
    ['the category may be a raw name', { meta: { consent_category: 'statistics' } }, GRANTED, { fbp: 'fb.1.1.2' }],
    ['a sync without a category: unless denied', { meta: { enabled: true } }, {}, { fbp: 'fb.1.1.2' }],
    ['a sync of another vendor', { tiktok: { consent_category: 'marketing' } }, {}, { fbp: 'fb.1.1.2' }],
    ['no sync: unless denied', {}, {}, { fbp: 'fb.1.1.2' }],
  ])('the id of a cookie under vendor_syncs: %s', (_name, syncs, context, expected) => {
    expect(walk([{ day: 0, context, cookies: FBP }], {}, {}, syncs).context.vendor_ids).toEqual(expected);
  });
  test('a remembered id needs the category of the sync too', () => {
    const visits = [
      { day: 0, context: said(true), cookies: FBP },
      { day: 1, context: said(false) },
    ];
    expect(walk(visits, {}, {}, { meta: { consent_category: 'marketing' } }).context.vendor_ids).toBeUndefined();
    expect(walk(visits).context.vendor_ids).toEqual({ fbp: 'fb.1.1.2' });
  });
  test('a denied category does not get the cookies', () => {
    const cookies = { _ttp: 'ttp-1', _ga: 'GA1.1.111.222' };
    const { context } = walk([{ day: 0, context: { consent: { canonical: { advertising: false, analytics: true } } }, cookies }]);
    expect(context.vendor_ids).toEqual({ ga_client_id: '111.222' });
  });
});

describe('campaign, group, traits', () => {
  test('the first campaign stays the first', () => {
    const { context } = walk([
      { day: 0, context: { campaign: { source: 'a', extra: 1 } } },
      { day: 1, context: { campaign: { source: 'b' } } },
    ]);
    expect(context.campaign_first).toEqual({ source: 'a' });
  });
  test('later events carry the current group', () => {
    const { context } = walk([
      { day: 0, over: { type: 'group', group_id: 'acme' } },
      { day: 1, over: { type: 'group', group_id: 'umbrella' } },
      { day: 2 },
    ]);
    expect(context.group_id).toBe('umbrella');
  });
  test('null on an event counts as absent', () => {
    const { context } = walk([
      { day: 0, over: { type: 'group', group_id: 'acme', context: { campaign: { source: 'a' } } } },
      { day: 1, over: { context: { group_id: null, campaign_first: null } } },
    ]);
    expect(context).toMatchObject({ group_id: 'acme', campaign_first: { source: 'a' } });
  });
  test.each([
    [[{ a: 1 }], true],
    [[{ a: 1 }, { a: 1 }], false],
    [[{ a: 1 }, {}, { a: 1 }], false],
    [[{ a: 1 }, { a: 2 }], true],
  ])('traits %j: changed %s', (traits, expected) => {
    const { context } = walk(traits.map((one, day) => ({ day, over: { traits: one as JsonObject } })));
    expect(context.traits_changed).toBe(expected);
  });
});

describe('what is stored', () => {
  const session = { id: 's', started_at: 0, last_at: 0 };
  test.each<[string, VisitorState, number, boolean]>([
    ['a click of last month', { session, clicks: { gclid: ['G', 0] } }, 60, false],
    ['a click of last year', { session, clicks: { gclid: ['G', 0] } }, 91, true],
  ])('%s', (_name, state, days, gone) => {
    expect(hasOutlived(state, days * DAY)).toBe(gone);
  });
  test('a new click is saved at once', () => {
    expect(worthSaving({ session }, { session, clicks: { gclid: ['G', 0] } }, 1_800_000)).toBe(true);
  });
  test('a state of an earlier version is read', () => {
    const one: CanonicalEvent = { event_id: 'e', type: 'track', timestamp: '', context: {} };
    const state = applySession(one, { visitor_id: 'v', org_id: 'o', received_at: 1_000 }, 60_000, { session }, []);
    expect(one.context.session).toEqual({ id: 's', started_at: '1970-01-01T00:00:00.000Z', number: 1, event_index: 2, is_new: false });
    expect(state.session).toEqual({ id: 's', started_at: 0, last_at: 1_000, number: 1, events: 2 });
  });
  test('sessions are counted, and events in them', () => {
    let state: VisitorState = {};
    const seen = [0, 1, 1, 100].map((received_at, i) => {
      const one: CanonicalEvent = { event_id: `e${i}`, type: 'track', timestamp: '', context: {} };
      state = applySession(one, { visitor_id: 'v', org_id: 'o', received_at }, 10, state, []);
      const { number, event_index } = one.context.session as { number: number; event_index: number };
      return [number, event_index];
    });
    expect(seen).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 1],
    ]);
  });
  test('no context makes it throw', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('consent', 'click_ids', 'click_id_times', 'vendor_ids', 'campaign', 'group_id'), fc.jsonValue()),
        (context) => {
          walk([{ day: 0, context: context as JsonObject, cookies: { _ga: 'x' } }]);
        },
      ),
      { numRuns: 200 },
    );
  });
});
