import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import { compileVendor } from './compile.ts';
import type { CompiledVendor, VendorRequest } from './compiled.ts';
import { defineVendor, type VendorInput } from './define.ts';
import type { RequestDefinition } from './definition.ts';

const options = { mode: 'production', allow_private: false, gzip: (data: Uint8Array) => gzipSync(data) } as const;
const context = { now: 1_700_000_000_500, attempt: 2, request_id: 'r1' };
const event: CanonicalEvent = {
  event_id: 'e1',
  type: 'track',
  event: 'Bestellung ✓ \u2028 \ud800',
  timestamp: '2026-01-02T03:04:05.678Z',
  context: { __proto__: 'x', 7: 'first', consent: { canonical: {} } },
  properties: { text: '"\\\u0000é', list: [1e21, -0, null, { n: 1 }] },
};
const json = Buffer.from(JSON.stringify(event));

function compiled(over: Partial<RequestDefinition> = {}, config: JsonObject = {}, vendor: object = {}): CompiledVendor {
  const definition = defineVendor({
    key: 'acme',
    name: 'Acme',
    description: 'd',
    category: 'other',
    group: 'custom',
    setup_steps: ['Sign up.'],
    status: 'beta',
    website: 'https://acme.example',
    config_fields: [],
    requests: [{ method: 'POST', url: 'https://api.acme.example/v1', body: { kind: 'json' }, ...over }],
    default_action: 'pass_through',
    variants: [{ key: 'default', name: 'Default', description: 'd', default_config: {} }],
    ...vendor,
  } as VendorInput);
  const result = compileVendor(definition, config, options);
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.vendor;
}
const bodyOf = ({ body, headers, ...rest }: VendorRequest) => {
  const bytes = Buffer.from(body!);
  return { ...rest, headers, body: (headers['Content-Encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('latin1') };
};

const batch = { max_items: 10, max_bytes: 1_000, interval_ms: 5 };

describe('an event that goes out as it is need not be parsed: the same item and the same request', () => {
  test.each<[string, Partial<RequestDefinition>, JsonObject]>([
    ['plainly', {}, {}],
    ['with defaults that pass everything through', {}, { version: 2, defaults: { action: 'pass_through' } }],
    ['under headers of the request', { headers: { 'X-Id': '{{request.id}}', 'X-Sum': '{{body.sha256}}' } }, {}],
    ['signed', { auth: { kind: 'hmac', header: 'X-Signature', secret: 's', prefix: 'sha256=' } }, {}],
    ['compressed', { compression: 'gzip' }, {}],
    ['in a batch', { batch }, {}],
  ])('%s', (_name, over, config) => {
    const vendor = compiled(over, config);
    const built = vendor.build(event, context);
    if (built.kind !== 'items') throw new Error(built.kind);
    const item = vendor.verbatim!(json, 'e1');
    expect({ ...item, payload: undefined }).toEqual({ ...built.items[0], payload: undefined });
    expect(bodyOf(vendor.request([item], context))).toEqual(bodyOf(vendor.request(built.items, context)));
    expect(bodyOf(vendor.request([item, item], context))).toEqual(bodyOf(vendor.request([...built.items, ...built.items], context)));
  });
});

describe('whatever depends on what stands in an event is built', () => {
  test.each<[string, Partial<RequestDefinition>, JsonObject, object?]>([
    ['a mapping of some event', {}, { events: { Other: { enabled: false } } }],
    ['a filter for all', {}, { global: { filter: { field: 'type', op: 'eq', value: 'track' } } }],
    ['a filter of the defaults', {}, { defaults: { filter: { field: 'type', op: 'eq', value: 'track' } } }],
    ['a drop', {}, { defaults: { action: 'drop' } }],
    ['legacy steps', {}, { version: 1, steps: [] }],
    ['a URL with a part of the event', { url: 'https://api.acme.example/{{event.type}}' }, {}],
    ['a URL with the date of the event', { url: 'https://api.acme.example/{{date.year}}' }, {}],
    ['a request for some events', { when: { field: 'key', op: 'eq', value: '@page' } }, {}],
    ['a list of its items', { items: 'properties.list' }, {}],
    ['another body', { body: { kind: 'form' } }, {}],
    ['keys of its own', { fill: { id: '{{event.event_id}}' } }, {}],
  ])('%s', (_name, over, config, vendor) => {
    expect(compiled(over, config, vendor).verbatim).toBeUndefined();
  });
  test('several requests', () => {
    const requests = [1, 2].map(() => ({ method: 'POST', url: 'https://api.acme.example/v1', body: { kind: 'json' } }));
    expect(compiled({}, {}, { requests }).verbatim).toBeUndefined();
  });
});
