/** The named kinds of the vendor format: a small definition in, the exact request out. */
import { describe, expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import { compileVendor } from './compile.ts';
import type { CompiledVendor, VendorItem, VendorRequest } from './compiled.ts';
import { defineVendor } from './define.ts';
import type { RequestDefinition } from './definition.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const CONTEXT = { now: NOW, attempt: 1, request_id: 'req-1' };

function vendorOf(request: Partial<RequestDefinition>, config: JsonObject = {}): CompiledVendor {
  const vendor = defineVendor({
    key: 'acme',
    name: 'Acme',
    description: 'A vendor.',
    category: 'other',
    group: 'custom',
    status: 'beta',
    website: 'https://acme.example',
    setup_steps: ['Sign up.'],
    config_fields: [],
    request: { method: 'POST', url: 'https://api.acme.example/x', body: { kind: 'json' }, ...request },
    default_action: 'pass_through',
    variants: [{ key: 'default', name: 'Default', description: 'All.', default_config: {} }],
  });
  const result = compileVendor(
    vendor,
    { defaults: { action: 'map', mappings: [{ source: 'properties', target: '$' }] }, ...config },
    {
      mode: 'production',
      allow_private: false,
    },
  );
  if (!result.ok) throw new Error(JSON.stringify([...result.missing, ...result.invalid]));
  return result.vendor;
}

function eventOf(properties: JsonObject, id = 'e-1'): CanonicalEvent {
  return { event_id: id, type: 'track', event: 'X', timestamp: '2026-01-02T03:04:05.000Z', context: {}, properties };
}

function itemsOf(vendor: CompiledVendor, ...events: CanonicalEvent[]): VendorItem[] {
  return events.flatMap((event) => {
    const built = vendor.build(event, { now: NOW });
    if (built.kind !== 'items') throw new Error(JSON.stringify(built));
    return built.items;
  });
}

function requestOf(vendor: CompiledVendor, ...events: CanonicalEvent[]): VendorRequest {
  return vendor.request(itemsOf(vendor, ...events), CONTEXT);
}

const batch = { max_items: 10, max_bytes: 100_000, interval_ms: 1_000 };

test('the id of a request as a UUID: equal for every attempt, another one for another request', () => {
  const vendor = vendorOf({ headers: { 'X-Id': '{{request.uuid}}' } });
  const idOf = (context: typeof CONTEXT) => vendor.request(itemsOf(vendor, eventOf({ a: 1 })), context).headers['X-Id'];
  expect(idOf(CONTEXT)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(idOf({ ...CONTEXT, attempt: 2, now: NOW + 1_000 })).toBe(idOf(CONTEXT));
  expect(idOf({ ...CONTEXT, request_id: 'req-2' })).not.toBe(idOf(CONTEXT));
});

test('a list beneath several keys, with the common fields beside it', () => {
  const vendor = vendorOf({ batch, body: { kind: 'json_list', under: 'data.events', common: { test_id: 't-1' } } });
  expect(JSON.parse(String(requestOf(vendor, eventOf({ a: 1 }), eventOf({ a: 2 }, 'e-2')).body))).toEqual({
    data: { test_id: 't-1', events: [{ a: 1 }, { a: 2 }] },
  });
});

test('a list as numbered fields of a form or a query', () => {
  const payload = { id: 'o-1', items: [{ SKU: 'a', QTY: 2 }, { SKU: 'b' }, 'x'] };
  const form = requestOf(vendorOf({ body: { kind: 'form', numbered: 'items' } }), eventOf(payload));
  expect(form.body).toBe('id=o-1&SKU1=a&QTY1=2&SKU2=b');
  const query = requestOf(vendorOf({ method: 'GET', body: { kind: 'query', numbered: 'items' } }), eventOf(payload));
  expect(query.url).toBe('https://api.acme.example/x?id=o-1&SKU1=a&QTY1=2&SKU2=b');
  expect(requestOf(vendorOf({ body: { kind: 'form', numbered: 'items' } }), eventOf({ items: 'none' })).body).toBe('items=none');
});

describe('typed references', () => {
  const list: Partial<RequestDefinition> = {
    lane: ['client'],
    items: 'events',
    body: { kind: 'json_list', under: 'events', common: { client: { $ref: 'lane.client' }, key: 'k' } },
    batch,
  };
  test('a reference in common keeps its type', () => {
    const vendor = vendorOf(list);
    const { body } = requestOf(vendor, eventOf({ client: { id: 7, tags: ['a'] }, events: [{ n: 1 }] }));
    expect(body).toBe('{"client":{"id":7,"tags":["a"]},"key":"k","events":[{"n":1}]}');
  });
  test('items of one client share a request, items of two clients do not', () => {
    const vendor = vendorOf(list);
    const [a, b, c] = itemsOf(
      vendor,
      eventOf({ client: { id: 1 }, events: [{ n: 1 }] }, 'e-1'),
      eventOf({ client: { id: 1 }, events: [{ n: 2 }] }, 'e-2'),
      eventOf({ client: { id: 2 }, events: [{ n: 3 }] }, 'e-3'),
    );
    expect([a?.lane === b?.lane, a?.lane === c?.lane]).toEqual([true, false]);
    expect(requestOf(vendor, eventOf({ client: 1, events: [{ n: 1 }, { n: 2 }] })).body).toBe(
      '{"client":1,"key":"k","events":[{"n":1},{"n":2}]}',
    );
  });
  test('shape writes each item with references', () => {
    const vendor = vendorOf({
      shape: { data: { type: 'event', attributes: { $ref: 'payload' }, id: '{{item.id}}', none: '{{payload.none}}' } },
    });
    expect(requestOf(vendor, eventOf({ total: 5 })).body).toBe('{"data":{"type":"event","attributes":{"total":5},"id":"e-1"}}');
  });
});

describe('headers', () => {
  const vendor = vendorOf({ headers: { 'X-Visitor': '{{event.properties.ip}}', 'User-Agent': '{{event.properties.ua}}' } });
  test('a header whose text is empty is left out', () => {
    expect(requestOf(vendor, eventOf({ ip: '203.0.113.7', ua: 'Mozilla/5.0' })).headers).toMatchObject({
      'X-Visitor': '203.0.113.7',
      'User-Agent': 'Mozilla/5.0',
    });
    const { headers } = requestOf(vendor, eventOf({}));
    expect(headers).not.toHaveProperty('X-Visitor');
    expect(headers['User-Agent']).toMatch(/^Firsthand\//);
  });
  test('a definition may name the program itself', () => {
    const named = vendorOf({ headers: { 'user-agent': 'Import-Firsthand/1' } });
    const { headers } = requestOf(named, eventOf({}));
    expect(Object.entries(headers).filter(([name]) => name.toLowerCase() === 'user-agent')).toEqual([['user-agent', 'Import-Firsthand/1']]);
  });
});

describe('items', () => {
  test('several kinds of items of one event stand in one list, each with a unique id', () => {
    const vendor = vendorOf({
      items: ['identify', '$'],
      fill: { insert_id: '{{item.id}}' },
      body: { kind: 'json_list', under: 'events' },
      batch,
    });
    expect(requestOf(vendor, eventOf({ identify: { a: 1 }, b: 2 })).body).toBe(
      '{"events":[{"a":1,"insert_id":"e-1"},{"b":2,"insert_id":"e-1-1"}]}',
    );
  });
  test.each([
    ['number', '[{"i":0,"a":1},{"i":1}]'],
    ['string', '[{"i":"0","a":1},{"i":"1"}]'],
  ] as const)('the position as a %s', (type, expected) => {
    const vendor = vendorOf({ index_field: { name: 'i', type }, batch });
    expect(requestOf(vendor, eventOf({ a: 1 }), eventOf({}, 'e-2')).body).toBe(expected);
  });
});

describe('combine', () => {
  const people = [eventOf({ id: 'a', plan: 'x', n: 1 }, 'e-1'), eventOf({ id: 'b' }, 'e-2'), eventOf({ id: 'a', n: 2 }, 'e-3')];
  const bodyOf = (how: 'last' | 'merge') =>
    vendorOf({
      body: { kind: 'json_list', under: 'people' },
      batch: { ...batch, combine: { by: 'id', how } },
      answers: [
        {
          verdict: 'partial',
          partial: { errors: 'body.errors', index: 'at', reason: 'why', failed: 'refused', others: 'delivered' },
        },
      ],
    });
  test('last: the newest item of a key is sent', () => {
    expect(requestOf(bodyOf('last'), ...people).body).toBe('{"people":[{"id":"a","n":2},{"id":"b"}]}');
  });
  test('merge: its fields are laid over the older ones', () => {
    expect(requestOf(bodyOf('merge'), ...people).body).toBe('{"people":[{"id":"a","plan":"x","n":2},{"id":"b"}]}');
  });
  test('the verdict of the one item counts for all of its key', () => {
    const vendor = bodyOf('merge');
    const reply = { status: 200, headers: {}, body: '{"errors":[{"at":0,"why":"bad"}]}' };
    expect(vendor.read(reply, itemsOf(vendor, ...people), { now: NOW })).toEqual({
      kind: 'partial',
      items: [{ kind: 'refused', reason: 'http_200: bad' }, { kind: 'delivered' }, { kind: 'refused', reason: 'http_200: bad' }],
    });
  });
});

describe('partial results by key', () => {
  const vendor = (partial: NonNullable<NonNullable<RequestDefinition['answers']>[number]['partial']>) =>
    vendorOf({
      body: { kind: 'json_list', under: 'users' },
      item_keys: ['email', 'id'],
      batch,
      answers: [{ status: [200], verdict: 'partial', partial, retry_after: { ms: 30_000 } }],
    });
  const users = [eventOf({ email: 'a@x.example', id: 1 }, 'e-1'), eventOf({ email: 'b@x.example', id: 2 }, 'e-2')];
  test.each([
    [{ errors: 'body.errors', key: 'email', reason: 'why' }, '{"errors":[{"email":"b@x.example","why":"bad"}]}', 'bad'],
    [{ errors: 'body.bad', key: '$' }, '{"bad":["b@x.example"]}', 'b@x.example'],
    [{ keys: ['body.failed.notFound'] }, '{"failed":{"notFound":[2]},"message":"lost"}', 'lost'],
    [{ keys: ['body.throttled'] }, '{"throttled":{"2":12},"error":"slow"}', 'slow'],
  ])('%j', (rule, body, reason) => {
    const compiled = vendor({ ...rule, failed: 'refused', others: 'delivered' });
    expect(compiled.read({ status: 200, headers: {}, body }, itemsOf(compiled, ...users), { now: NOW })).toEqual({
      kind: 'partial',
      items: [{ kind: 'delivered' }, { kind: 'refused', reason: `http_200: ${reason}` }],
    });
  });
  test('the wait belongs to the failed items', () => {
    const compiled = vendor({ keys: ['body.t'], failed: 'unavailable', others: 'unavailable' });
    const verdict = compiled.read({ status: 200, headers: {}, body: '{"t":[1]}' }, itemsOf(compiled, ...users), { now: NOW });
    expect(verdict).toMatchObject({ kind: 'partial', items: [{ retry_after_ms: 30_000 }, { kind: 'unavailable' }] });
    expect(verdict.kind === 'partial' && verdict.items[1]).not.toHaveProperty('retry_after_ms');
  });
});

describe('bodies', () => {
  test('csv quotes what needs it', () => {
    const vendor = vendorOf({ body: { kind: 'csv', columns: { Id: 'id', 'Name, full': 'name', Price: 'price' } }, batch });
    const request = requestOf(vendor, eventOf({ id: 1, name: 'A "B"\nC', price: 1.5 }), eventOf({ id: 2 }, 'e-2'));
    expect(request.headers['Content-Type']).toBe('text/csv');
    expect(request.body).toBe('Id,"Name, full",Price\r\n1,"A ""B""\nC",1.5\r\n2,,\r\n');
  });
  test('xml escapes text and leaves out names that are none', () => {
    const vendor = vendorOf({ body: { kind: 'xml', root: 'request', attributes: { version: '1.0' } } });
    const request = requestOf(
      vendor,
      eventOf({ pageName: 'a<b & "c"', products: [{ '@id': 1, '#text': 'T' }, { '@id': 2 }], '<x>': 1, none: null }),
    );
    expect(request.headers['Content-Type']).toBe('application/xml');
    expect(request.body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<request version="1.0"><pageName>a&lt;b &amp; &quot;c&quot;</pageName><products id="1">T</products><products id="2"></products></request>',
    );
  });
  test('xml with several items', () => {
    const vendor = vendorOf({ body: { kind: 'xml', root: 'hits', item: 'hit' }, batch });
    expect(requestOf(vendor, eventOf({ a: 1 }), eventOf({ a: 2 }, 'e-2')).body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<hits><hit><a>1</a></hit><hit><a>2</a></hit></hits>',
    );
  });
  test('form with an embedded list', () => {
    const vendor = vendorOf({ body: { kind: 'form_list', field: 'events', common: { api_key: 'k', none: '' } }, batch });
    const request = requestOf(vendor, eventOf({ a: 1 }), eventOf({ a: 'ü' }, 'e-2'));
    expect(request.headers['Content-Type']).toBe('application/x-www-form-urlencoded');
    expect([...new URLSearchParams(request.body as string)]).toEqual([
      ['api_key', 'k'],
      ['events', '[{"a":1},{"a":"ü"}]'],
    ]);
  });
  test('multipart: the boundary follows from the content, so no event can contain it', () => {
    const content = { kind: 'csv', columns: { Id: 'id' } } as const;
    const vendor = vendorOf({
      body: { kind: 'multipart', file: { name: 'file', filename: 'a.csv', content_type: 'text/csv', content }, fields: { type: 'BASIC' } },
      batch,
    });
    const { headers, body } = requestOf(vendor, eventOf({ id: 'x\r\n--firsthand' }));
    const boundary = /^multipart\/form-data; boundary=(firsthand-[0-9a-f]{40})$/.exec(headers['Content-Type'] ?? '')?.[1];
    expect(body).toBe(
      `--${boundary}\r\nContent-Disposition: form-data; name="type"\r\n\r\nBASIC\r\n` +
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n` +
        `Id\r\n"x\r\n--firsthand"\r\n\r\n--${boundary}--\r\n`,
    );
  });
});

describe('fields', () => {
  const rules = {
    key: 'rules',
    label: 'Rules',
    type: 'table',
    required: false,
    placeholder: '[{"event":"Order Completed","rule":"1"}]',
    help_text: 'Rules.',
    columns: [
      { key: 'event', label: 'Event', type: 'string', required: true, placeholder: 'x', help_text: 'x' },
      { key: 'rule', label: 'Rule', type: 'secret', required: true, placeholder: '1', help_text: 'x', pattern: '^\\d+$' },
    ],
  } as const;
  const vendor = defineVendor({
    key: 'acme',
    name: 'Acme',
    description: 'A vendor.',
    category: 'advertising',
    group: 'advertising',
    status: 'beta',
    website: 'https://acme.example',
    setup_steps: ['Sign up.'],
    config_fields: [{ ...rules, columns: [...rules.columns] }],
    request: { method: 'POST', url: 'https://api.acme.example/x', body: { kind: 'json' } },
    event_name: { target: 'rule' },
    event_table: { field: 'rules', event: 'event', vendor_event_name: 'rule' },
    max_event_age_hours: 168,
    default_action: 'drop',
    variants: [{ key: 'default', name: 'Default', description: 'All.', default_config: {} }],
  });
  const compile = (config: JsonObject) => compileVendor(vendor, config, { mode: 'production', allow_private: false });
  const events = { X: { enabled: false, mappings: [{ source: 'properties.n', target: 'n' }] } };

  test('a row of the table enables its event and names it', () => {
    const result = compile({ events, rules: [{ event: 'X', rule: '17' }] });
    if (!result.ok) throw new Error(JSON.stringify(result));
    expect(requestOf(result.vendor, eventOf({ n: 1 })).body).toBe('{"n":1,"rule":"17"}');
  });
  test.each([
    ['no list', 'rules', 'must be a list'],
    [[{ event: 'X' }], 'rules[0].rule', 'is required'],
    [[{ event: 'X', rule: 'y' }], 'rules[0].rule', 'must match ^\\d+$'],
    [[{ event: 'X', rule: '1', extra: 1 }], 'rules[0].extra', 'is unknown'],
    [['X'], 'rules[0]', 'must be an object'],
  ])('%j is refused', (value, field, message) => {
    expect(compile({ rules: value as JsonObject[] })).toEqual({ ok: false, missing: [], invalid: [{ field, message }] });
  });
  test('an event above the maximum age is dropped with its own reason', () => {
    const result = compile({ events, rules: [{ event: 'X', rule: '17' }] });
    if (!result.ok) throw new Error(JSON.stringify(result));
    const week = 7 * 24 * 3_600_000;
    const age = (ms: number) => result.vendor.build(eventOf({ n: 1 }), { now: NOW + ms }).kind;
    expect([age(week), age(week + 1)]).toEqual(['items', 'dropped']);
    expect(result.vendor.build(eventOf({}), { now: NOW + week + 1 })).toEqual({ kind: 'dropped', reason: 'event_too_old' });
  });
});

test('a payload as JSON text and in base64, with ids of the item', () => {
  const shape = {
    text: { $json: 'payload' },
    line: { $base64: 'payload', suffix: '\n' },
    missing: { $json: 'payload.none' },
    by: '{{item.visitor}}',
    hash: '{{item.visitor_sha256}}',
  };
  const vendor = vendorOf({ batch, shape, body: { kind: 'json_list' } });
  const event = { ...eventOf({ a: 'ü' }), user_id: 'u-1', anonymous_id: 'anon-1' };
  expect(JSON.parse(String(requestOf(vendor, event).body))).toEqual([
    {
      text: '{"a":"ü"}',
      line: 'eyJhIjoiw7wifQo=',
      by: 'anon-1',
      hash: '2e96105c29d2c92c48ffb367fa6e4b40db08207d649bcf83aa1cec30532a1e17',
    },
  ]);
});
