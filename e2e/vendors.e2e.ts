import { loadCases, VENDOR_KEYS } from '@firsthand/catalog/index.ts';
import { completeConfig } from '@firsthand/catalog/vendors/shared/run-case.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { scrubber, secretValues } from '@firsthand/core/vendor/secrets.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareCases } from './capture/compare-cases.ts';
import { withPrivateKey } from './capture/install.ts';
import { type Client, type Loose, send, signIn, until } from './harness/client.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { type Service, startService } from './harness/service.ts';

let service: Service;
let client: Client;
let receiver: Receiver;
beforeAll(async () => {
  service = await startService();
  client = await signIn(service);
  receiver = await startReceiver();
  receiver.answer(({ path }) => ({
    body: JSON.stringify(path.endsWith('/token') ? { access_token: 'fresh', expires_in: 3600 } : { code: 0 }),
  }));
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

/** An order at each vendor: the request path, and where value and currency are in the body. */
const ORDER: Record<string, { path: RegExp; read: (body: Loose) => unknown }> = {
  webhook: { path: /^\/hooks\/firsthand$/, read: ({ properties }) => [properties!.total, properties!.currency] },
  custom_http: { path: /^\/v1\/events$/, read: ({ properties }) => [properties!.total, properties!.currency] },
  google_analytics_4: { path: /^\/mp\/collect\?/, read: ({ events }) => [events![0]!.params!.value, events![0]!.params!.currency] },
  meta_conversions_api: {
    path: /^\/v[\d.]+\/\d+\/events$/,
    read: ({ data }) => [data![0]!.custom_data!.value, data![0]!.custom_data!.currency],
  },
  tiktok_events_api: {
    path: /^\/open_api\/v1\.3\/event\/track\/$/,
    read: ({ data }) => [data![0]!.properties!.value, data![0]!.properties!.currency],
  },
  google_ads: { path: /^\/v1\/events:ingest$/, read: ({ events }) => [events![0]!.conversionValue, events![0]!.currency] },
  amplitude: { path: /^\/2\/httpapi$/, read: ({ events }) => [events![0]!.revenue, events![0]!.currency] },
  braze: { path: /^\/users\/track$/, read: ({ purchases }) => [purchases![0]!.price, purchases![0]!.currency] },
  amazon_s3: {
    path: /^\/acme-events\/firsthand\/2026\/01\/02\/03\/[0-9a-f]{64}\.ndjson$/,
    read: ({ properties }) => [properties!.total, properties!.currency],
  },
};

describe('from the catalog to the vendor', () => {
  test.each(Object.keys(ORDER))('%s: installed from the catalog with example values, it receives an order', async (vendor) => {
    const entry = await client.get(`/integration-catalog/${vendor}`);
    const fields = (entry.config_fields as unknown as { key: string; required: boolean; placeholder: string }[]).filter(
      ({ required }) => required,
    );
    const config = {
      ...Object.fromEntries(fields.map(({ key, placeholder }) => [key, placeholder])),
      endpoint: receiver.url,
      batch_interval_ms: 50,
      ...(vendor === 'amazon_s3' ? { compression: 'none' } : {}),
      // The order is from January 2026: without this the vendor's maximum age would drop it.
      max_event_age_hours: 0,
    };
    const { template } = await client.post(`/integration-catalog/${vendor}/install`, { name: `My ${vendor}`, config });
    const pipeline = await client.post('/pipelines', { name: `Shop ${vendor}`, type: 'server' });
    await client.post(`/pipelines/${pipeline.id}/integrations`, { template_id: template!.id });
    const before = receiver.requests.length;
    await send(service, pipeline.pipeline_key!, '/v1/events', {
      type: 'track',
      event: 'Order Completed',
      userId: 'user-1',
      anonymousId: 'anon-1',
      messageId: `order-${vendor}`,
      timestamp: '2026-01-02T03:04:05.678Z',
      context: {
        ip: '203.0.113.7',
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
        page: { url: 'https://shop.example/?gclid=Cj0&fbclid=Iw' },
      },
      traits: { email: 'anna@example.com' },
      properties: { order_id: 'o-1', total: 42.5, currency: 'EUR', products: [{ product_id: 'p-1', price: 42.5, quantity: 1 }] },
    });
    const { path, read } = ORDER[vendor]!;
    const request = await until(`the order at ${vendor}`, () => receiver.requests.slice(before).find((one) => path.test(one.path)));
    expect(read(JSON.parse(request.body) as Loose)).toEqual([42.5, 'EUR']);
    expect(request.headers['user-agent']).toMatch(/^Firsthand\//);
    if (vendor === 'google_ads') expect(request.headers.authorization).toBe('Bearer fresh');
  });
});

const VENDOR_CASES = (await Promise.all(VENDOR_KEYS.map(loadCases))).filter((one) => one !== undefined);
/** The start of a JSON object in base64. */
const BASE64_OBJECT = /^eyJ[\w+/]+=*$/;
function objectIn(text: string): unknown {
  const json = BASE64_OBJECT.test(text) ? Buffer.from(text, 'base64').toString() : text;
  if (!json.startsWith('{"')) return text;
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return text; // Cut at a vendor's limit.
  }
}
/** Parses texts that hold a JSON object, as queues want them: the order of their keys does not matter. */
function unpacked(value: unknown): unknown {
  if (typeof value === 'string') return objectIn(value);
  if (Array.isArray(value)) return value.map(unpacked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, unpacked(one)]));
}
const withoutHash = (url: string) => url.replace(/[0-9a-f]{64}/, '<hash>');

describe('preview shows exactly what would be sent', () => {
  // The first case of each vendor in `npm test`, the others in `npm run test:long`.
  const cases = VENDOR_CASES.flatMap(({ vendor, cases: list }) =>
    list.filter(({ batched }) => !batched).map((one, at) => ({ ...one, vendor, tags: at === 0 ? [] : ['long'] })),
  );
  for (const one of cases)
    test(`${one.vendor.key}: ${one.name}`, { tags: one.tags }, async () => {
      // The samples are from January 2026: without this the vendor's maximum age would drop them.
      const age: JsonObject = one.dropped === 'event_too_old' ? {} : { max_event_age_hours: 0 };
      const config = withPrivateKey(completeConfig(one.vendor, one.variant, { ...age, ...one.config }));
      const preview = await client.post('/mapping/preview', { vendor: one.vendor.key, config, event: { ...one.event } });
      if (one.dropped !== undefined) return expect(preview.dropped).toEqual({ reason: one.dropped });
      if (one.failed !== undefined) return expect(preview.dropped!.reason).toMatch(new RegExp(`^${one.failed}`));
      const scrub = scrubber(secretValues(one.vendor, config));
      const shown = preview.requests as unknown as { method: string; url: string; body: unknown }[];
      if (one.records) return expect(shown.map(({ body }) => body)).toEqual(one.records.map(({ values }) => values));
      // Later requests of a chain depend on responses.
      const requests = one.vendor.chain ? one.requests!.slice(0, 1) : one.requests!;
      // Preview does not batch: items of one event that share a request in delivery are shown as one request each.
      if (shown.length !== requests.length) return expect(['amplitude', 'braze']).toContain(one.vendor.key);
      for (const [index, expected] of requests.entries()) {
        const { method, url, body } = shown[index]!;
        if (expected.method) expect(method).toBe(expected.method);
        // The name of an S3 object is the hash of its bytes, which depends on the order of keys.
        if (expected.url) expect(withoutHash(url)).toBe(withoutHash(scrub(expected.url)));
        if (typeof expected.body === 'object') expect(unpacked(body)).toEqual(unpacked(JSON.parse(scrub(JSON.stringify(expected.body)))));
      }
    });
});

describe('one case of every vendor, from the collection API to its server', () => {
  // `npm run capture-vendors -- --compare` sends all of them.
  const first = Map.groupBy(
    VENDOR_CASES.filter(({ vendor }) => !vendor.transport).flatMap(({ vendor, cases }) => cases.map((one) => ({ ...one, vendor }))),
    ({ vendor }) => vendor.key,
  );
  const cases = [...first.values()].flatMap((all) => all.filter(({ requests }) => requests !== undefined).slice(0, 1));
  let results: Awaited<ReturnType<typeof compareCases>>;
  beforeAll(async () => {
    results = await compareCases(cases);
    // Its own waits end a hang.
  }, 900_000);
  test.each(cases.map(({ vendor }, at) => [vendor.key, at] as const))('%s', (_key, at) => {
    expect(results[at]?.differences).toEqual([]);
  });
});
