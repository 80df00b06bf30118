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
    const item = vendor.verbatim?.({
      json,
      event_id: 'e1',
      received_at: 0,
      event,
      head: event,
      timestamp: event.timestamp,
      size: json.length,
    });
    if (item === undefined) throw new Error('no item');
    const about = (one: typeof item | undefined) => one && { lane: one.lane, size: one.size, event_id: one.event_id };
    expect(about(item)).toEqual(about(built.items[0]));
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

describe('a record of a driver, from the stored event: the same as the one that is built', () => {
  const batch = { max_items: 10, max_bytes: 1_000, interval_ms: 5 };
  const viaDriver = (transport: object, config: JsonObject = {}) =>
    compiled({}, config, { requests: undefined, transport: { kind: 'kafka', connection: {}, batch, ...transport } });
  const parsed = JSON.parse(json.toString()) as CanonicalEvent;
  const stored = { json, event_id: 'e1', received_at: 5, event: parsed, head: parsed, timestamp: parsed.timestamp, size: json.length };

  test.each([
    ['a row', { target: 'events' }],
    ['a message', { target: 'events', text: true }],
    ['a target that refers to the event', { target: 'events.{{event.type}}', text: true }],
    ['a line of a file', { target: 'logs/{date}/{event}', files: true, sealed: true }],
  ])('%s', (_name, transport) => {
    const vendor = viaDriver(transport);
    const built = vendor.build(stored.event, { now: 1, received_at: 5 });
    if (built.kind !== 'items') throw new Error(built.kind);
    const item = vendor.verbatim?.(stored);
    const about = (one: typeof item | undefined) => one && { lane: one.lane, size: one.size, event_id: one.event_id };
    expect(about(item)).toEqual(about(built.items[0]));
    const [direct, made] = [item, built.items[0]].map((one) => one && vendor.transport?.record(one));
    const shown = (record: typeof made) =>
      record && {
        event_id: record.event_id,
        target: record.target,
        received_at: record.received_at,
        visitor: record.visitor,
        values: record.values,
        event: record.event,
        json: transport.target === 'events' && !('text' in transport) ? undefined : Buffer.from(record.json ?? '').toString(),
      };
    expect(shown(direct)).toEqual(shown(made));
  });

  test('an event without a target is built, which says why it fails', () => {
    const vendor = viaDriver({ target: '{{event.name}}' });
    expect(vendor.verbatim?.(stored)).toBeUndefined();
    expect(vendor.build(stored.event, { now: 1 })).toEqual({ kind: 'failed', reason: 'the event names no target' });
  });
  test('a mapped payload is built', () => {
    expect(viaDriver({ target: 'events' }, { events: { Other: { enabled: false } } }).verbatim).toBeUndefined();
  });
});
