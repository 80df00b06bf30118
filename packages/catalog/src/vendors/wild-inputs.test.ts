import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { compileVendor, validateConfig } from '@firsthand/core/vendor/compile.ts';
import { maskRequest, secretPaths, secretValues } from '@firsthand/core/vendor/secrets.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadVendors } from '../index.ts';
import { compileCase, completeConfig, requestsFor } from './shared/run-case.ts';
import { COMMERCE_EVENTS } from './shared/standard-events.ts';

const VENDORS = await loadVendors();
const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });
const object = fc.dictionary(
  fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'products', 'total', 'email', 'price')),
  json,
) as fc.Arbitrary<JsonObject>;
const product = fc.record({ product_id: json, sku: json, price: json, quantity: json, name: json }, { requiredKeys: [] });
const event: fc.Arbitrary<CanonicalEvent> = fc.record(
  {
    event_id: fc.string({ minLength: 1 }),
    type: fc.constantFrom('track', 'page', 'identify', 'group'),
    event: fc.oneof(fc.constantFrom(...COMMERCE_EVENTS), fc.string({ unit: 'binary' })),
    name: fc.string({ unit: 'binary' }),
    group_id: fc.string(),
    anonymous_id: fc.string({ unit: 'binary' }),
    user_id: fc.string({ unit: 'binary' }),
    timestamp: fc.oneof(fc.constant('2026-01-02T03:04:05.678Z'), fc.string()),
    context: object,
    properties: fc.oneof(
      object,
      fc.record({ products: fc.oneof(fc.array(product), json), order_id: json, total: json, currency: json }, { requiredKeys: [] }),
    ),
    traits: fc.oneof(object, fc.record({ email: json, phone: json, first_name: json, address: json }, { requiredKeys: [] })),
  },
  { requiredKeys: ['event_id', 'type', 'timestamp', 'context'] },
) as fc.Arbitrary<CanonicalEvent>;

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const compiled = VENDORS.flatMap((vendor) =>
  vendor.variants.map(({ key }) => ({
    vendor,
    variant: key,
    built: compileCase(vendor, key),
  })),
);

test('no event makes a vendor throw, change the event, or write a body that is no JSON', () => {
  fc.assert(
    fc.property(event, (one) => {
      const before = JSON.stringify(one);
      // One assertion for all vendors: an `expect` takes as long as building a request.
      const wrong: unknown[] = [];
      for (const { vendor, variant, built } of compiled) {
        const { requests } = requestsFor(built, one);
        for (const { url, headers, body } of requests) {
          if (headers['Content-Type'] === 'application/json') JSON.parse(body as string);
          if (!URL.canParse(url) || !Object.values(headers).every((value) => HEADER_VALUE.test(value)))
            wrong.push({ vendor: vendor.key, variant, url, headers });
        }
      }
      expect(wrong).toEqual([]);
      expect(JSON.stringify(one)).toBe(before);
    }),
    { numRuns: 150 },
  );
});

test('no config throws, and every rejected one has a reason', () => {
  const options = { mode: 'production', allow_private: false } as const;
  const vendor = fc.constantFrom(...VENDORS);
  const change = fc.oneof(
    object,
    fc.record(
      {
        headers: json,
        request: json,
        requests: json,
        parameters: json,
        events: json,
        defaults: json,
        global: json,
        version: json,
        url: json,
        batch_size: json,
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<JsonObject>,
  );
  fc.assert(
    fc.property(vendor, change, (definition, over) => {
      const config = { ...completeConfig(definition), ...over };
      const result = compileVendor(definition, config, options);
      if (!result.ok) expect(result.missing.length + result.invalid.length).toBeGreaterThan(0);
      validateConfig(definition, config, options);
      secretPaths(definition, config);
      maskRequest({ method: 'POST', url: 'https://x.example', headers: {}, body: '{}' }, secretValues(definition, config));
    }),
    { numRuns: 400 },
  );
});

test('no answer throws, and a partial one judges every item', () => {
  const reply = fc.record({
    status: fc.integer({ min: 100, max: 599 }),
    body: fc.oneof(
      json.map((value) => JSON.stringify(value)),
      fc.string(),
    ),
  });
  const items = Array.from({ length: 3 }, (_, index) => ({
    lane: '0',
    payload: { text: '{}', timestamp: undefined },
    size: 1,
    event_id: `e${index}`,
  }));
  fc.assert(
    fc.property(reply, ({ status, body }) => {
      for (const { built } of compiled.filter((one) => !one.built.chain && !one.built.transport)) {
        const verdict = built.read({ status, headers: {}, body }, items, { now: 0 });
        if (verdict.kind === 'partial') expect(verdict.items).toHaveLength(3);
      }
    }),
    { numRuns: 150 },
  );
});
