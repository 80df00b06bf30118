import { describe, expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import type { Decision } from '../outcome/outcome.ts';
import { applyContext, type RequestFacts } from './enrich.ts';
import { applyVendorIds } from './vendor-ids.ts';

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1';
const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/605.1.15';
const page = (url: string) => ({ page: { url } });
const STREAMS = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`_ga_S${i}`, 'GS1.1.1']));

interface Case {
  context?: JsonObject;
  properties?: JsonObject;
  request?: Partial<RequestFacts>;
  expected: JsonObject;
}
const cases: Record<string, Case> = {
  'address and user agent of the request, where a browser sent none': {
    request: { ip: '203.0.113.7', user_agent: 'x' },
    expected: { ip: '203.0.113.7', user_agent: 'x', geo: { country: 'DE' } },
  },
  'the client’s own word wins': {
    context: { ip: '198.51.100.1', user_agent: 'own' },
    request: { ip: '203.0.113.7', user_agent: 'x' },
    expected: { ip: '198.51.100.1', user_agent: 'own' },
  },
  'never the connection of a server': { request: { source: 'server', ip: '203.0.113.7', user_agent: 'x' }, expected: {} },
  'a telephone': {
    context: { user_agent: IPHONE },
    expected: {
      user_agent: IPHONE,
      device: { type: 'mobile', manufacturer: 'Apple', model: 'iPhone' },
      os: { name: 'iOS', version: '17.4' },
      browser: { name: 'Safari', version: '17.4' },
    },
  },
  'a desk': {
    context: { user_agent: WINDOWS },
    expected: {
      user_agent: WINDOWS,
      device: { type: 'desktop' },
      os: { name: 'Windows', version: '10' },
      browser: { name: 'Chrome', version: '126.0.0.0' },
    },
  },
  'numbers of a system, not the names of its releases': {
    context: { user_agent: MAC },
    expected: {
      user_agent: MAC,
      device: { type: 'desktop', manufacturer: 'Apple' },
      os: { name: 'macOS', version: '10.15.7' },
      browser: { name: 'Safari', version: '17.0' },
    },
  },
  'what an app says of its device stays': {
    context: { user_agent: IPHONE, device: { id: 'd1', model: 'iPhone15,2' }, os: { name: 'iPadOS', version: '1' } },
    expected: {
      user_agent: IPHONE,
      device: { id: 'd1', model: 'iPhone15,2', type: 'mobile', manufacturer: 'Apple' },
      os: { name: 'iPadOS', version: '1' },
      browser: { name: 'Safari', version: '17.4' },
    },
  },
  campaign: {
    context: page('https://shop.example/a?utm_source=news%20letter&utm_medium=e+mail&utm_campaign=Spring&utm_term=t&utm_content=c&x=1'),
    expected: {
      ...page('https://shop.example/a?utm_source=news%20letter&utm_medium=e+mail&utm_campaign=Spring&utm_term=t&utm_content=c&x=1'),
      campaign: { source: 'news letter', medium: 'e mail', name: 'Spring', term: 't', content: 'c' },
    },
  },
  'a campaign the client sent': {
    context: { ...page('https://a/?utm_source=url&utm_term=t'), campaign: { source: 'client' } },
    expected: { ...page('https://a/?utm_source=url&utm_term=t'), campaign: { source: 'client', term: 't' } },
  },
  'click ids, names in any case': {
    context: page(
      'https://a/?gclid=G&GBRAID=B&wbraid=W&dclid=D&fbclid=F&ttclid=T&msclkid=M&sccid=S&epik=E&li_fat_id=L&rdt_cid=R&twclid=X&qclid=Q#gclid=other',
    ),
    expected: {
      ...page(
        'https://a/?gclid=G&GBRAID=B&wbraid=W&dclid=D&fbclid=F&ttclid=T&msclkid=M&sccid=S&epik=E&li_fat_id=L&rdt_cid=R&twclid=X&qclid=Q#gclid=other',
      ),
      click_ids: {
        gclid: 'G',
        gbraid: 'B',
        wbraid: 'W',
        dclid: 'D',
        fbclid: 'F',
        ttclid: 'T',
        msclkid: 'M',
        ScCid: 'S',
        epik: 'E',
        li_fat_id: 'L',
        rdt_cid: 'R',
        twclid: 'X',
        qclid: 'Q',
      },
    },
  },
  'the first of two, an empty one none': {
    context: page('?gclid=&gclid=1&gclid=2'),
    expected: { ...page('?gclid=&gclid=1&gclid=2'), click_ids: { gclid: '1' } },
  },
  'broken escapes are kept as written': {
    context: page('/a?utm_source=%E0%A4%A'),
    expected: { ...page('/a?utm_source=%E0%A4%A'), campaign: { source: '%E0%A4%A' } },
  },
  'from properties, where the context has no page': { properties: { url: 'https://a/?gclid=1' }, expected: { click_ids: { gclid: '1' } } },
  'from the query alone': {
    context: { page: { search: '?gclid=1' } },
    expected: { page: { search: '?gclid=1' }, click_ids: { gclid: '1' } },
  },
  'Global Privacy Control from the header': { request: { gpc: true }, expected: { gpc: true } },
  'and from the client': { context: { gpc: '1' }, expected: { gpc: true } },
  'vendor ids by their cookies’ names': {
    context: { vendor_ids: { _fbp: 'fb.1.1.2', _ga: 'GA1.1.123.456', _ga_ABC: 'GS1.1.1700000000.1.0', ttp: 't', own: 'x' } },
    expected: {
      vendor_ids: {
        fbp: 'fb.1.1.2',
        ga_client_id: '123.456',
        ga_session_id: '1700000000',
        ga_sessions: { ABC: '1700000000' },
        ttp: 't',
        own: 'x',
      },
    },
  },
  'vendor ids from cookies': {
    context: { cookies: { _fbp: 'fb.1.1.2', _ga_X: 'GS2.1.s1750000000$o1', other: 'secret' }, vendor_ids: { fbp: 'own' } },
    expected: {
      cookies: { _fbp: 'fb.1.1.2', _ga_X: 'GS2.1.s1750000000$o1', other: 'secret' },
      vendor_ids: { fbp: 'own', ga_session_id: '1750000000', ga_sessions: { X: '1750000000' } },
    },
  },
  'of thousands of cookies the first 500': {
    context: { cookies: STREAMS },
    expected: {
      cookies: STREAMS,
      vendor_ids: {
        ga_session_id: '1',
        ga_sessions: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`S${i}`, '1'])),
      },
    },
  },
  'values of the wrong kind': {
    context: { ip: 5, user_agent: {}, page: 'x', campaign: 'no', vendor_ids: [] } as JsonObject,
    expected: { ip: 5, user_agent: {}, page: 'x', campaign: 'no', vendor_ids: [] } as JsonObject,
  },
};

describe('context', () => {
  test.each(Object.entries(cases))('%s', (_name, { context = {}, properties, request, expected }) => {
    const event: CanonicalEvent = {
      event_id: 'e',
      type: 'track',
      event: 'T',
      timestamp: '2026-01-01T00:00:00.000Z',
      context: structuredClone(context),
      ...(properties && { properties }),
    };
    const decisions: Decision[] = [];
    applyContext(event, { source: 'browser', ...request }, (ip) => (ip.startsWith('203.') ? { country: 'DE' } : undefined), decisions);
    expect(event.context).toEqual(expected);
    const changed = Object.keys(expected).filter((key) => JSON.stringify(expected[key]) !== JSON.stringify(context[key]));
    expect((decisions[0]?.changed ?? []).map((path) => path.slice(8)).sort()).toEqual(changed.sort());
  });
});

test('the sessions that a client sent are not copied for each cookie', () => {
  const sessions = { A: '1' };
  const context: JsonObject = { vendor_ids: { ga_sessions: sessions, _ga_B: 'GS1.1.2', _ga_C: 'GS1.1.3' } };
  expect(applyVendorIds(context)).toBe(true);
  expect((context.vendor_ids as JsonObject).ga_sessions).toBe(sessions);
  expect(sessions).toEqual({ A: '1', B: '2', C: '3' });
});
