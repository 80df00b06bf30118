import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type DataLayerConfig, DEFAULT_DATA_LAYER } from '../config/resources.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import type { Decision } from '../outcome/outcome.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import { truncateIp } from './ip.ts';
import { applyPii, compilePii } from './pii.ts';
import { compileUrlParams } from './url-params.ts';

type Config = Partial<DataLayerConfig['pii_rules']>;
type Parts = Partial<Pick<CanonicalEvent, 'event' | 'name' | 'user_id' | 'anonymous_id' | 'properties' | 'traits' | 'context'>>;
const ANNA = 'b1f5b6efb7e9e3c5f5bd5a1ba4a3d3ad3b0d0fcc9d0a6aaf8d7b23f5c0c0fd70';
/** Microseconds of processor time, which other work on the machine does not use up: many times what it takes, far below what a square would. */
const BEARABLE = 10_000_000;
const sha = (text: string) => hash('sha256', text, 'hex');

function apply(config: Config, parts: Parts): { event: CanonicalEvent; decisions: Decision[]; faults: ConfigFault[] } {
  const event: CanonicalEvent = { event_id: 'e', type: 'track', event: 'T', timestamp: '', context: {}, ...structuredClone(parts) };
  const decisions: Decision[] = [];
  const faults: ConfigFault[] = [];
  applyPii(event, compilePii({ ...DEFAULT_DATA_LAYER.pii_rules, ...config }, faults), decisions);
  return { event, decisions, faults };
}

describe('addresses', () => {
  const cases: [address: string, truncated: string | undefined][] = [
    ['203.0.113.77', '203.0.113.0'],
    ['2001:db8:abcd:12:3456::1', '2001:db8:abcd::'],
    ['2001:0db8:0000:0012::1', '2001:db8::'],
    ['::1', '::'],
    ['fe80::1%eth0', 'fe80::'],
    ['::ffff:203.0.113.77', '::ffff:203.0.113.0'],
    ['::ffff:cb00:714d', '::ffff:203.0.113.0'],
    ['1:2:3:4:5:6:7:8', '1:2:3::'],
    [' 10.1.2.3 ', '10.1.2.0'],
    ['300.1.1.1', undefined],
    ['1.2.3', undefined],
    ['1:2:3', undefined],
    ['1::2::3', undefined],
    ['not an address', undefined],
    ['', undefined],
  ];
  test.each(cases)('%j', (address, truncated) => expect(truncateIp(address)).toBe(truncated));
  test.each([
    ['keep', '203.0.113.77'],
    ['truncate', '203.0.113.0'],
    ['drop', undefined],
  ] as const)('%s', (ip, expected) => {
    const { event, decisions } = apply({ ip }, { context: { ip: '203.0.113.77' } });
    expect(event.context.ip).toBe(expected);
    expect(decisions).toEqual(ip === 'keep' ? [] : [{ step: 'pii', result: 'changed', changed: ['context.ip'] }]);
  });
  test('an invalid address is removed', () =>
    expect(apply({ ip: 'truncate' }, { context: { ip: { a: 1 } } as never }).event.context).toEqual({}));
});

describe('fields', () => {
  const cases: [name: string, fields: Config['fields'], parts: Parts, expected: Parts][] = [
    [
      'hash trims and lowers',
      [{ path: 'traits.email', action: 'hash' }],
      { traits: { email: ' Anna@Example.com ' } },
      { traits: { email: sha('anna@example.com') } },
    ],
    ['a hash is not hashed again', [{ path: 'traits.email', action: 'hash' }], { traits: { email: ANNA } }, { traits: { email: ANNA } }],
    [
      'numbers are hashed as text',
      [{ path: 'traits.phone', action: 'hash' }],
      { traits: { phone: 4912345 } },
      { traits: { phone: sha('4912345') } },
    ],
    [
      'redact',
      [{ path: 'traits.name', action: 'redact' }],
      { traits: { name: 'Anna', age: 5 } },
      { traits: { name: '[redacted]', age: 5 } },
    ],
    ['drop', [{ path: 'traits.name', action: 'drop' }], { traits: { name: 'Anna', age: 5 } }, { traits: { age: 5 } }],
    [
      'every element',
      [{ path: 'properties.products[*].note', action: 'redact' }],
      { properties: { products: [{ note: 'a' }, { id: 1 }, { note: 'b' }] } },
      { properties: { products: [{ note: '[redacted]' }, { id: 1 }, { note: '[redacted]' }] } },
    ],
    [
      'one element',
      [{ path: 'properties.list[1]', action: 'drop' }],
      { properties: { list: [1, 2, 3] } },
      { properties: { list: [1, 3] } },
    ],
    ['any name', [{ path: 'traits.*', action: 'redact' }], { traits: { a: 'x', b: 1 } }, { traits: { a: '[redacted]', b: '[redacted]' } }],
    [
      'at any depth',
      [{ path: '**.email', action: 'drop' }],
      { properties: { email: 1, a: { email: 2, b: [{ email: 3, c: 4 }] } }, traits: { email: 5 } },
      { properties: { a: { b: [{ c: 4 }] } }, traits: {} },
    ],
    [
      'at any depth below a name, also below a list',
      [{ path: 'properties.**.a.**.email', action: 'redact' }],
      { properties: { email: 1, x: { a: { email: 2, b: [{ c: { email: 3 } }] } } } },
      { properties: { email: 1, x: { a: { email: '[redacted]', b: [{ c: { email: '[redacted]' } }] } } } },
    ],
    [
      'everything inside',
      [{ path: 'traits.**', action: 'redact' }],
      { properties: { a: 1 }, traits: { a: 'x', b: [{ c: 1 }] } },
      { properties: { a: 1 }, traits: { a: '[redacted]', b: [{ c: '[redacted]' }] } },
    ],
    [
      'everything inside a list',
      [{ path: 'properties.list.**', action: 'drop' }],
      { properties: { list: [1, { a: 2 }], b: 3 } },
      { properties: { list: [], b: 3 } },
    ],
    [
      'inside an object',
      [{ path: 'traits.address', action: 'redact' }],
      { traits: { address: { street: 'x', geo: [1, 2] } } },
      { traits: { address: { street: '[redacted]', geo: ['[redacted]', '[redacted]'] } } },
    ],
    [
      'traits that are sent twice',
      [{ path: 'traits.email', action: 'redact' }],
      { traits: { email: 'a@b.c' }, context: { traits: { email: 'a@b.c', plan: 'x' } } },
      { traits: { email: '[redacted]' }, context: { traits: { email: '[redacted]', plan: 'x' } } },
    ],
    ['whole objects', [{ path: 'traits', action: 'drop' }], { traits: { a: 1 } }, {}],
    ['ids', [{ path: 'user_id', action: 'hash' }], { user_id: 'U1' }, { user_id: sha('u1') }],
    [
      'quoted names',
      [{ path: 'properties["a.b"]', action: 'redact' }],
      { properties: { 'a.b': 1 } },
      { properties: { 'a.b': '[redacted]' } },
    ],
    ['what is not there', [{ path: 'traits.x.y[*].z', action: 'hash' }], { traits: { x: 'text' } }, { traits: { x: 'text' } }],
    ['nothing reaches a prototype', [{ path: 'properties.__proto__.polluted', action: 'redact' }], { properties: {} }, { properties: {} }],
  ];
  test.each(cases)('%s', (_name, fields, parts, expected) => {
    const { event, faults } = apply(fields ? { fields } : {}, parts);
    expect(faults).toEqual([]);
    expect(event).toEqual({ event_id: 'e', type: 'track', event: 'T', timestamp: '', context: {}, ...expected });
  });
  test.each([
    ['traits.address', 'redact'],
    ['**.address', 'redact'],
    ['traits.**', 'redact'],
    ['traits.*', 'redact'],
    ['traits', 'redact'],
  ] as const)('a name __proto__ hides nothing from %s', (path, action) => {
    const traits = JSON.parse('{"address":{"__proto__":{"street":"secret"},"list":[{"__proto__":"secret"}]}}');
    expect(JSON.stringify(apply({ fields: [{ path, action }] }, { traits }).event)).not.toContain('secret');
    expect(({} as { street?: unknown }).street).toBeUndefined();
  });
  test('ten times any depth in 60 levels ends: it tried every way to divide them', () => {
    let deep: object = { email: 'x', kept: 1 };
    for (let i = 0; i < 58; i++) deep = { a: deep, other: 1 };
    for (const path of ['**.'.repeat(30), '**.*.'.repeat(10), 'properties.**.a.**.a.**.a.**.a.**.a.**.a.**.a.**.a.']) {
      const { event } = apply({ fields: [{ path: `${path}email`, action: 'drop' }] }, { properties: structuredClone(deep) as never });
      expect(JSON.stringify(event.properties)).toBe(JSON.stringify(deep).replace('"email":"x",', ''));
    }
  });
  test.each([
    'event_id',
    'timestamp',
    'type',
    'other.x',
    '',
    'traits[',
    '**',
    '**.**',
    'context',
    'event',
  ])('%j is no path for a rule', (path) => {
    expect(apply({ fields: [{ path, action: 'drop' }] }, {}).faults).toHaveLength(1);
  });
});

describe('URL parameters', () => {
  const remove = compileUrlParams(['email', 'token'])!;
  const cases: [text: string, expected: string][] = [
    ['https://a.example/p?email=x@y.z', 'https://a.example/p'],
    ['https://a.example/p?email=x&b=1', 'https://a.example/p?b=1'],
    ['https://a.example/p?b=1&email=x', 'https://a.example/p?b=1'],
    ['https://a.example/p?b=1&email=x&c=2#top', 'https://a.example/p?b=1&c=2#top'],
    ['https://a.example/p?email=x&token=y', 'https://a.example/p'],
    ['https://a.example/p?email=x&token=y#email=z&k=1', 'https://a.example/p#k=1'],
    ['https://a.example/p?EMAIL=x&%65mail=y&emails=z', 'https://a.example/p?emails=z'],
    ['?email=x&b=1', '?b=1'],
    ['/p?redirect=/q?email=x&b=1', '/p?redirect=/q&b=1'],
    [
      'see https://a.example/?token=x&a=1 and https://b.example/?a=2&token=y now',
      'see https://a.example/?a=1 and https://b.example/?a=2 now',
    ],
    ['"https://a.example/?token=x"', '"https://a.example/"'],
    ['really? email = none', 'really? email = none'],
    ['email=x', 'email=x'],
    ['?', '?'],
    ['a?email', 'a?email'],
    [`/${'?a=1'.repeat(1_000)}`, `/${'?a=1'.repeat(1_000)}`],
  ];
  test.each(cases)('%j', (text, expected) => expect(remove(text)).toBe(expected));

  test('everywhere in the event', () => {
    const url = 'https://a.example/?email=x&b=1';
    const clean = 'https://a.example/?b=1';
    const { event, decisions } = apply(
      { url_params: ['email'] },
      { context: { page: { url, referrer: url, search: '?email=x' } }, properties: { url, list: [{ link: url }] }, traits: { site: url } },
    );
    expect(event).toMatchObject({
      context: { page: { url: clean, referrer: clean, search: '' } },
      properties: { url: clean, list: [{ link: clean }] },
      traits: { site: clean },
    });
    expect(decisions[0]!.changed).toEqual([
      'properties.url',
      'properties.list[0].link',
      'traits.site',
      'context.page.url',
      'context.page.referrer',
      'context.page.search',
    ]);
  });
});

describe('detection', () => {
  const all: Config = { detect: ['email', 'phone', 'card', 'iban'], detect_action: 'redact' };
  const R = '[redacted]';
  const texts: [text: string, expected: string][] = [
    ['write to anna.smith+news@mail.example.com, please', `write to ${R}, please`],
    ['ANNA@EXAMPLE.CO.UK', R],
    ['https://a.example/?e=anna%40example.com&x=1', `https://a.example/?e=${R}&x=1`],
    ['müller@exämple.de und mehr', `${R} und mehr`],
    ['two: a1@b.io b2@c.io', `two: ${R} ${R}`],
    ['not an address: @handle, a@b, foo@1.2, x@.com', 'not an address: @handle, a@b, foo@1.2, x@.com'],
    ['call +49 151 23456789 now', `call ${R} now`],
    ['tel +14155552671', `tel ${R}`],
    ['+1 (415) 555-2671.', `${R}.`],
    ['order 4155552671', 'order 4155552671'],
    ['version 1.2.3.4 build 20240501', 'version 1.2.3.4 build 20240501'],
    ['card 4111 1111 1111 1111 ok', `card ${R} ok`],
    ['4111-1111-1111-1111', R],
    ['5555555555554444', R],
    ['amex 3782 822463 10005', `amex ${R}`],
    ['12 4111 1111 1111 1111', `12 ${R}`],
    ['4111 1111 1111 1112', '4111 1111 1111 1112'],
    ['1700000000000', '1700000000000'],
    ['DE89 3704 0044 0532 0130 00', R],
    ['pay DE89370400440532013000 today', `pay ${R} today`],
    ['gb82 west 1234 5698 7654 32', R],
    ['DE88 3704 0044 0532 0130 00', 'DE88 3704 0044 0532 0130 00'],
    ['SKU-DE12345678901234567', 'SKU-DE12345678901234567'],
    ['', ''],
  ];
  test.each(texts)('%j', (text, expected) => {
    expect(apply(all, { properties: { text } }).event.properties).toEqual({ text: expected });
  });

  test('names of events and pages keep something', () => {
    expect(apply(all, { event: 'mail to a@b.example', name: 'x@y.example' }).event).toMatchObject({ event: `mail to ${R}`, name: R });
    expect(apply({ ...all, detect_action: 'drop' }, { event: 'a@b.example' }).event.event).toBe(R);
  });
  test('hash and drop', () => {
    const parts: Parts = { traits: { email: 'Anna@Example.com', note: 'to Anna@Example.com!', list: ['a@b.example', 'x'] } };
    expect(apply({ ...all, detect_action: 'hash' }, parts).event.traits).toEqual({
      email: sha('anna@example.com'),
      note: `to ${sha('anna@example.com')}!`,
      list: [sha('a@b.example'), 'x'],
    });
    expect(apply({ ...all, detect_action: 'drop' }, parts).event.traits).toEqual({ note: 'to !', list: ['x'] });
  });
  test('a card number as a number', () => {
    expect(apply(all, { properties: { card: 4111111111111111, total: 12.5, at: 1700000000000 } }).event.properties).toEqual({
      card: R,
      total: 12.5,
      at: 1700000000000,
    });
  });
  test('context texts, but nothing that machines made', () => {
    const context: JsonObject = {
      page: { title: 'Hello a@b.example' },
      user_agent: 'x/4111111111111111',
      ip: '1.2.3.4',
      click_ids: { gclid: 'a@b.example' },
      own: { deep: ['+49 151 23456789'] },
    };
    expect(apply(all, { context }).event.context).toEqual({ ...context, page: { title: `Hello ${R}` }, own: { deep: [R] } });
  });
  test('national numbers where the country is known', () => {
    const text = { text: 'ring (415) 555-2671 or 030 901820' };
    expect(apply(all, { properties: text }).event.properties).toEqual(text);
    expect(apply(all, { properties: text, context: { locale: 'en-US' } }).event.properties).toEqual({ text: `ring ${R} or 030 901820` });
  });
  test('an event full of phone numbers is processed quickly, and none remains', () => {
    const list = Array.from({ length: 20_000 }, (_, i) => `+49 151 ${String(20_000_000 + i)}`);
    const started = process.threadCpuUsage();
    const { event } = apply(all, { properties: { list } });
    expect(process.threadCpuUsage(started).user).toBeLessThan(BEARABLE);
    expect(new Set(event.properties!.list as string[])).toEqual(new Set([R]));
  });
  test('a text with thousands of addresses is covered whole', () => {
    const text = 'a@b.example '.repeat(20_000);
    expect(apply({ ...all, detect_action: 'hash' }, { properties: { text, other: 1 } }).event.properties).toEqual({ text: R, other: 1 });
    expect(apply({ ...all, detect_action: 'drop' }, { properties: { text, other: 1 } }).event.properties).toEqual({ other: 1 });
  });
  test('only what is asked for', () => {
    const text = 'a@b.example 4111111111111111';
    expect(apply({ detect: ['card'], detect_action: 'redact' }, { properties: { text } }).event.properties).toEqual({
      text: `a@b.example ${R}`,
    });
  });
  test.each([
    'a'.repeat(200_000),
    '@'.repeat(50_000),
    '1 '.repeat(50_000),
    '+1'.repeat(50_000),
    'DE89 '.repeat(30_000),
    'a@'.repeat(50_000),
    '(1) '.repeat(30_000),
  ])('a hostile text ends soon (%#)', (text) => {
    const started = process.threadCpuUsage();
    apply(all, { properties: { text }, context: { locale: 'en-US' } });
    expect(process.threadCpuUsage(started).user).toBeLessThan(BEARABLE);
  });
});
