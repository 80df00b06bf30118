import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import { validateDataLayer } from '../process/compiled.ts';
import { finish } from '../steps.ts';
import { compileVendor, validateConfig, validateConfigInSteps } from './compile.ts';
import type { CompiledVendor, VendorItem } from './compiled.ts';
import { defineVendor, type VendorInput } from './define.ts';
import type { RequestDefinition } from './definition.ts';
import { USER_AGENT } from './version.ts';

const options = { mode: 'production', allow_private: false } as const;
const event = (over: Partial<CanonicalEvent> = {}): CanonicalEvent => ({
  event_id: 'e1',
  type: 'track',
  event: 'Order Completed',
  user_id: 'u1',
  timestamp: '2026-01-02T03:04:05.678Z',
  context: {},
  properties: { id: 'p', list: [{ n: 1 }, { n: 2 }] },
  ...over,
});
const request = (over: Partial<RequestDefinition> = {}): RequestDefinition => ({
  method: 'POST',
  url: 'https://api.acme.example/v1/{{parameters.account}}',
  body: { kind: 'json' },
  ...over,
});
const acme = (over: Partial<VendorInput> & { requests?: RequestDefinition[] } = {}) =>
  defineVendor({
    key: 'acme',
    name: 'Acme',
    description: 'd',
    category: 'other',
    group: 'custom',
    setup_steps: ['Sign up.'],
    status: 'beta',
    website: 'https://acme.example',
    config_fields: [
      { key: 'account', label: 'Account', type: 'string', required: true, placeholder: 'a1', help_text: 'h' },
      { key: 'token', label: 'Token', type: 'secret', required: false, placeholder: 'tok', help_text: 'h' },
    ],
    requests: [request()],
    default_action: 'pass_through',
    variants: [{ key: 'default', name: 'Default', description: 'd', default_config: {} }],
    ...over,
  } as VendorInput);

function compiled(over: Parameters<typeof acme>[0] = {}, config: JsonObject = {}, more: object = {}): CompiledVendor {
  const result = compileVendor(acme(over), { account: 'a1', ...config }, { ...options, ...more });
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.vendor;
}
function itemsOf(vendor: CompiledVendor, one = event()): VendorItem[] {
  const built = vendor.build(one, { now: 0 });
  if (built.kind !== 'items') throw new Error(JSON.stringify(built));
  return built.items;
}
const context = { now: 1_700_000_000_500, attempt: 2, request_id: 'r1' };
const send = (vendor: CompiledVendor, items = itemsOf(vendor)) => vendor.request(items, context);
const faults = (config: JsonObject, over: Parameters<typeof acme>[0] = {}) => validateConfig(acme(over), config, options);

test('settings: the vendor’s own, what every integration understands, and what the user set', () => {
  expect(compiled()).toMatchObject({
    batch: null,
    timeout_ms: 30_000,
    max_retries: 5,
    rate: { rps: 50, burst: 100, daily: 0 },
    concurrency: 8,
    consent_category: null,
  });
  const batch = { max_items: 500, max_bytes: 1_000, interval_ms: 2_000 };
  const over = { requests: [request({ batch })], rate: { rps: 10, burst: 30, daily: 5 }, timeout_ms: 5_000, concurrency: 2 };
  expect(compiled(over)).toMatchObject({ batch, timeout_ms: 5_000, rate: { rps: 10, burst: 30, daily: 5 }, concurrency: 2 });
  const user = {
    batch_size: '50',
    batch_interval_ms: 100,
    timeout_ms: 1_000,
    max_retries: 2,
    rate_limit_rps: 4,
    rate_limit_daily: 9,
    consent_category: 'marketing',
  };
  expect(compiled(over, user)).toMatchObject({
    batch: { max_items: 50, max_bytes: 1_000, interval_ms: 100 },
    timeout_ms: 1_000,
    max_retries: 2,
    rate: { rps: 4, burst: 8, daily: 9 },
    consent_category: 'marketing',
  });
  expect(compiled(over, { batch_size: 5_000 }).batch?.max_items).toBe(500);
  expect(compiled({}, { retry_enabled: false, max_retries: 3 }).max_retries).toBe(0);
});

test('a consent category with a hyphen, which a mapping may produce, can be required', () => {
  expect(validateDataLayer({ consent: { mapping: { C0004: 'e-mail' }, default: {}, honour_gpc: true } })).toEqual([]);
  expect(compiled({}, { consent_category: 'e-mail' }).consent_category).toBe('e-mail');
});

test('unknown keys, wrong values and missing ones are told apart, each with its path', () => {
  expect(faults({ acount: 'x', parameters: { tokn: 'y' }, max_retries: 6, events: { X: { mapings: [] } } })).toMatchObject({
    missing: [{ field: 'account' }],
    invalid: [{ field: 'max_retries' }, { field: 'acount' }, { field: 'parameters.tokn' }, { field: 'events.X.mapings' }],
  });
  expect(faults({ account: 'a', parameters: [] as never }).invalid).toEqual([{ field: 'parameters', message: 'must be an object' }]);
});

test('placeholders: any value when saved, a warning when the parameter is missing, a fault where the field does not fit', () => {
  const config = {
    account: '{{pipeline_param.A}}',
    timeout_ms: '{{pipeline_param.T}}',
    events: { X: { mappings: [{ source: '{{pipeline_param.S}}', target: 'x' }] } },
  };
  expect(faults(config)).toEqual({ missing: [], invalid: [] });
  const result = compileVendor(acme(), config, options);
  expect(result.ok ? [] : result.invalid.map(({ field }) => field)).toContain('timeout_ms');
  const fine = compiled({}, { account: '{{pipeline_param.A}}' });
  expect(fine.warnings).toEqual(['The pipeline has no parameter A: {{pipeline_param.A}} is left as written.']);
});

test('a fault in a text with a placeholder is found by its path, also below names with dots and brackets', () => {
  const entry = (target: string) => ({
    mappings: [
      { source: 'a', target: 'ok' },
      { source: 'a', target },
    ],
  });
  const events = { 'v1.0 Order': entry('{{pipeline_param.T}}['), 'a[0].b': [entry('['), entry('{{pipeline_param.T}}[')] };
  expect(faults({ account: 'a', events }).invalid.map(({ field }) => field)).toEqual(['events.a[0].b[0].mappings[1].target']);
});

test('thousands of faults are divided into steps, like the lines that have them', () => {
  const mappings = Array.from({ length: 1_000 }, () => ({ source: 'a', target: '[' }));
  const events = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`E ${n}`, { mappings }]));
  const steps = validateConfigInSteps(acme(), { account: 'a', events }, options);
  let yields = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) yields += 1;
  expect(step.value.invalid).toHaveLength(6_000);
  // A step for 50 lines, and one for 50 faults.
  expect(yields).toBeGreaterThan(2 * 6 * 19);
});

test.each([
  [{}, true],
  [{ events: {} }, true],
  [{ events: { X: { mappings: [] } } }, false],
  [{ defaults: { action: 'drop' } }, true],
  [{ defaults: { action: 'map', mappings: [] } }, false],
  [{ version: 1, steps: [] }, false],
] as [JsonObject, boolean][])('a config that maps nothing is warned of where unmapped events are dropped: %j', (mapping, warned) => {
  const warnings = (default_action: 'drop' | 'pass_through') => {
    const result = compileVendor(acme({ default_action }), { account: 'a1', ...mapping }, options);
    return result.ok ? result.vendor.warnings : result.invalid;
  };
  expect(warnings('drop')).toEqual(warned ? [expect.stringMatching(/^No event is mapped/)] : []);
  expect(warnings('pass_through')).toEqual([]);
});

test('the endpoint replaces scheme and host, and may bring a path', () => {
  const vendor = compiled({}, { endpoint: 'https://proxy.example.net/eu/' });
  expect(send(vendor).url).toBe('https://proxy.example.net/eu/v1/a1');
  expect(send(compiled({}, { endpoint: 'https://proxy.example.net/$&/$1' })).url).toBe('https://proxy.example.net/$&/$1/v1/a1');
});

test('production refuses addresses of the house, wherever they stand', () => {
  expect(faults({ account: 'a', endpoint: 'http://proxy.example' }).invalid[0]).toEqual({
    field: 'endpoint',
    message: 'must use https in production',
  });
  const requests = [request({ url: 'http://127.0.0.1/x' })];
  expect(faults({ account: 'a' }, { requests }).invalid[0]?.field).toBe('requests[0].url');
});

test('no event chooses the host', () => {
  const requests = [request({ url: 'https://{{event.properties.id}}.example/x' })];
  expect(faults({ account: 'a' }, { requests }).invalid[0]?.message).toBe('scheme and host must not depend on the event');
});

test('headers: the user’s under the definition’s under auth; event values cannot break out', () => {
  const requests = [
    request({ headers: { 'X-Event': '{{event.event}}', 'X-None': '{{parameters.token}}' }, auth: { kind: 'bearer', token: 'secret' } }),
  ];
  const vendor = compiled({ requests });
  const { headers } = send(vendor, itemsOf(vendor, event({ event: 'a\r\nX-Evil: ü' })));
  expect(headers).toEqual({
    'Content-Type': 'application/json',
    Authorization: 'Bearer secret',
    'User-Agent': USER_AGENT,
    'X-Event': 'a%0D%0AX-Evil: %C3%BC',
  });
});

test('a credential with a line break does not become a header', () => {
  const requests = [request({ auth: { kind: 'bearer', token: '{{parameters.token}}' } })];
  expect(faults({ account: 'a', token: 'a\nb' }, { requests }).invalid[0]?.field).toBe('token');
  const wide = [request({ auth: { kind: 'header', name: 'X-Key', value: '{{parameters.token}}' } })];
  expect(faults({ account: 'a', token: '日本' }, { requests: wide }).invalid[0]?.field).toBe('requests[0].auth');
});

test('one event, several requests: items, what they share, lanes and sizes', () => {
  const over = {
    send: 'all' as const,
    requests: [
      request({ name: 'profile', items: 'profile', body: { kind: 'json_list', under: 'profiles' } }),
      request({ name: 'lines', items: 'lines', merge: ['who'], body: { kind: 'json_list', under: 'lines' } }),
    ],
  };
  const mappings = [
    { source: 'user_id', target: 'who.id' },
    { source: 'properties.list[*].n', target: 'lines[*].n' },
  ];
  const vendor = compiled(over, { defaults: { action: 'map', mappings } });
  const items = itemsOf(vendor);
  expect(items.map(({ lane, size, event_id }) => [lane, size, event_id])).toEqual([
    ['1', 18, 'e1'],
    ['1', 18, 'e1'],
  ]);
  expect(send(vendor, items).body).toBe('{"lines":[{"id":"u1","n":1},{"id":"u1","n":2}]}');
  const nothing = compiled(over, { defaults: { action: 'map', mappings: [] } });
  expect(nothing.build(event(), { now: 0 })).toEqual({ kind: 'dropped', reason: 'mapping_filter' });
});

test('lane keys leave the payload, keep items apart, and never touch the event', () => {
  const requests = [
    request({
      url: 'https://api.acme.example/{{lane.user_id}}',
      lane: ['user_id'],
      batch: { max_items: 9, max_bytes: 999, interval_ms: 1 },
    }),
  ];
  const vendor = compiled({ requests });
  const one = event();
  const items = [...itemsOf(vendor, one), ...itemsOf(vendor, event({ user_id: 'u2' }))];
  expect(items[0]!.lane).not.toBe(items[1]!.lane);
  expect(one.user_id).toBe('u1');
  const sent = send(vendor, [items[0]!]);
  expect([sent.url, JSON.parse(sent.body as string)[0].user_id]).toEqual(['https://api.acme.example/u1', undefined]);
});

test('a request that takes one item keeps each alone beside one that collects', () => {
  const requests = [
    request({ when: { field: 'key', op: 'eq', value: '@identify' }, body: { kind: 'form' } }),
    request({ batch: { max_items: 9, max_bytes: 999, interval_ms: 1 } }),
  ];
  const vendor = compiled({ requests });
  const lanes = [event({ type: 'identify' }), event({ type: 'identify', event_id: 'e2' }), event(), event({ event_id: 'e3' })].map(
    (one) => itemsOf(vendor, one)[0]!.lane,
  );
  expect(new Set(lanes).size).toBe(3);
});

test('gzip is what the host brings', () => {
  const requests = [request({ body: { kind: 'ndjson' }, compression: 'gzip', batch: { max_items: 9, max_bytes: 999, interval_ms: 1 } })];
  const vendor = compiled({ requests }, {}, { gzip: (data: Uint8Array) => gzipSync(data) });
  const { body, headers } = send(vendor);
  expect(headers['Content-Encoding']).toBe('gzip');
  expect(gunzipSync(body as Uint8Array).toString()).toBe(`${JSON.stringify(event())}\n`);
  const without = compileVendor(acme({ requests }), { account: 'a' }, options);
  expect(without).toMatchObject({ ok: false, invalid: [{ field: 'compression' }] });
  expect(faults({ account: 'a' }, { requests })).toEqual({ missing: [], invalid: [] });
});

test('legacy steps run too', () => {
  const vendor = compiled({}, { version: 1, steps: [{ type: 'map', source: 'properties.id', target: 'properties.copy' }] });
  expect(JSON.parse(send(vendor).body as string).properties.copy).toBe('p');
});

test('a definition that does not fit stops the start, by name', () => {
  const bad = () =>
    acme({
      key: 'Acme Ads',
      website: 'acme',
      config_fields: [{ key: 'n', label: 'N', type: 'number', required: true, placeholder: 'x', help_text: 'h' }],
    });
  expect(bad).toThrow('vendor Acme Ads: key must be snake_case; website must be an https link; field n: its placeholder must be a number');
  expect(() => acme({ variants: [] })).toThrow('the first variant must be default');
  expect(() => acme({ rate: { rps: (() => 1) as never } })).toThrow('JSON round trip');
});

test('what fills an item refers to its event and lane, and leaves the event as it was', () => {
  const one = event();
  const before = structuredClone(one);
  const vendor = compiled(
    {
      requests: [
        request({
          lane: ['kind'],
          items: 'list',
          fill: { action: '{{parameters.account}}/{{lane.kind}}', user: '{{event.user_id}}', twice: '{{payload.n}}{{payload.n}}' },
          body: { kind: 'json_list', under: 'all' },
          batch: { max_items: 5, max_bytes: 1_000, interval_ms: 1 },
        }),
      ],
      default_action: 'drop',
    },
    {
      events: {
        'Order Completed': {
          mappings: [
            { value: 'k', target: 'kind' },
            { source: 'properties.list', target: 'list' },
          ],
        },
      },
    },
  );
  expect(JSON.parse(String(send(vendor, itemsOf(vendor, one)).body))).toEqual({
    all: [
      { n: 1, action: 'a1/k', user: 'u1', twice: '11' },
      { n: 2, action: 'a1/k', user: 'u1', twice: '22' },
    ],
  });
  expect(one).toEqual(before);
});

test('an event that would lead to another path is a failure, and nothing is sent', () => {
  const vendor = compiled({ requests: [request({ method: 'DELETE', url: 'https://api.acme.example/people/{{event.user_id}}' })] });
  expect(itemsOf(vendor)).toHaveLength(1);
  for (const user_id of ['', '..'])
    expect(vendor.build(event({ user_id }), { now: 0 })).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/^url_/) });
});

test('each request asks for its own token: one vendor, two accounts, and one that needs none', () => {
  const oauth = (name: string) => ({
    kind: 'oauth2_client_credentials' as const,
    token_url: `https://id.example/${name}`,
    client_id: name,
    client_secret: 's',
  });
  const on = (name: string): Partial<RequestDefinition> => ({ when: { field: 'key', op: 'eq', value: name } });
  const vendor = compiled({
    requests: [request({ ...on('@identify'), auth: oauth('people') }), request({ ...on('@page'), auth: oauth('pages') }), request()],
  });
  const askedFor = (one: CanonicalEvent) => (vendor.token?.(itemsOf(vendor, one)) as { client_id: string } | undefined)?.client_id;
  expect([event({ type: 'identify' }), event({ type: 'page' }), event()].map(askedFor)).toEqual(['people', 'pages', undefined]);
  expect(compiled().token).toBeUndefined();
});

test('all regular expressions of one mapping share a budget', () => {
  const transforms = [{ name: 'replace', args: ['(x[a-z]{1,40}y){3}', ''] }];
  const mappings = Array.from({ length: 25 }, (_, i) => ({ source: 'properties.text', target: `t${i}`, transforms }));
  const vendor = compiled({}, { global: { mappings }, defaults: { action: 'map' } });
  const body = (text: string) =>
    Object.keys(JSON.parse(send(vendor, itemsOf(vendor, event({ properties: { text } }))).body as string)).length;
  expect(body('short')).toBe(25);
  expect(body('b'.repeat(1_500))).toBeLessThan(20);
  // The next event has a budget of its own.
  expect(body('short')).toBe(25);
});

test('a small event whose mapping or items are more than one step is built in steps, not at once', () => {
  const hashes = Array.from({ length: 100 }, (_, i) => ({ source: 'properties.text', target: `t${i}`, transforms: ['sha256'] }));
  const lists = {
    requests: [request({ items: 'properties.list', merge: ['properties'], batch: { max_items: 500, max_bytes: 1e6, interval_ms: 1 } })],
  };
  for (const vendor of [compiled({}, { events: { 'Order Completed': { mappings: hashes } } }), compiled(lists)]) {
    const of = (chars: number) => event({ properties: { text: 'x'.repeat(chars), list: Array.from({ length: 50 }, (_, n) => ({ n })) } });
    expect(vendor.buildAtOnce(of(10), { now: 0 })).toEqual(vendor.build(of(10), { now: 0 }));
    expect(vendor.buildAtOnce(of(50_000), { now: 0 })).toBeUndefined();
    expect(finish(vendor.buildInSteps(of(50_000), { now: 0 }))).toEqual(vendor.build(of(50_000), { now: 0 }));
  }
});

test('the items of one event are encoded in steps: 16 MB of them held the loop', () => {
  const vendor = compiled({
    requests: [
      request({ items: 'list', merge: ['shared'], body: { kind: 'json_list' }, batch: { max_items: 500, max_bytes: 1e6, interval_ms: 1 } }),
    ],
  });
  const one = event();
  const payload = (count: number) => ({ shared: { text: 'x'.repeat(10_000) }, list: Array.from({ length: count }, (_, n) => ({ n })) });
  const stepsOf = (count: number, between = () => {}) => {
    const sent = { ...one, ...payload(count) } as CanonicalEvent;
    const steps = vendor.buildInSteps(sent, { now: 0 });
    for (let taken = 1; ; taken++) {
      const { done, value } = steps.next();
      if (done) return { taken, built: value, whole: vendor.build(sent, { now: 0 }) };
      between();
    }
  };
  // One for the mapping, one for the vendor's limits, and one for about 500 KB each.
  const { taken, built, whole } = stepsOf(1_000);
  expect(taken).toBe(2 + Math.ceil(1_000 / 53));
  expect(built).toEqual(whole);
  // Other events that are built in between have their own quota, and this one keeps its own.
  const between = () => void vendor.build(event(), { now: 0 });
  expect(stepsOf(1_000, between).built).toEqual(whole);
  expect(stepsOf(2_000, between).built).toMatchObject({ kind: 'failed', reason: expect.stringContaining('payload_too_large') });
  expect(stepsOf(2, between).taken).toBe(3);
});

test('one large item is written in steps: 4 MB of small fields in one item held the loop', () => {
  const vendor = compiled({ requests: [request({})] });
  const of = (count: number) => event({ properties: { list: Array.from({ length: count }, (_, a) => ({ a })) } });
  const stepsOf = (count: number) => [...vendor.buildInSteps(of(count), { now: 0 })].length;
  expect(stepsOf(40_000)).toBeGreaterThanOrEqual(stepsOf(1) + 5);
  expect(finish(vendor.buildInSteps(of(40_000), { now: 0 }))).toEqual(vendor.build(of(40_000), { now: 0 }));
});
