/** Cases of every vendor through real delivery: log, worker, batcher, HTTP client, and a server that notes what arrives. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadCases, VENDOR_KEYS } from '@firsthand/catalog/index.ts';
import meta from '@firsthand/catalog/vendors/meta_conversions_api/vendor.ts';
import { completeConfig } from '@firsthand/catalog/vendors/shared/run-case.ts';
import { orderCompleted } from '@firsthand/catalog/vendors/shared/sample-events.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anIntegration, Bench } from './testing/bench.ts';

interface Arrived {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}
type Answer = (arrived: Arrived) => { status: number; body: unknown };

const OPTIONS = { mode: 'development', allow_private: true, gzip: (data: Uint8Array) => data } as const;
/** They depend on the time of sending. */
const LATER_ID = /(evt-\d+)-later-\d+/g;
const SIGNED = /^(SharedKey |Bearer eyJ)/;
const CLOCKED = new Set(['webhook-timestamp', 'webhook-signature', 'x-amz-date', 'x-ms-date']);
// Chains and drivers have tests of their own: they need a vendor that answers, or no HTTP at all.
const all = (await Promise.all(VENDOR_KEYS.map(loadCases))).filter((one) => one !== undefined);
const cases = all
  .filter(({ vendor }) => !vendor.chain && !vendor.transport)
  .flatMap(({ vendor, cases: list }) => {
    const batched = list.findIndex((one) => one.batched !== undefined);
    return list.map((one, at) => ({ ...one, vendor, first: at === 0 || at === batched }));
  })
  .map((one, index) => ({
    ...one,
    index,
    title: `${one.vendor.key}: ${one.name}`,
  }));

let server: Server;
let origin: string;
let bench: Bench;
let answer: Answer = () => ({ status: 200, body: { code: 0 } });
const arrived: Arrived[] = [];

/** Placeholders of private keys are no keys, and tokens are signed here. */
const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

function compile(vendor: VendorDefinition, variant: string | undefined, over: JsonObject): CompiledVendor {
  const key: JsonObject = vendor.config_fields.some((field) => field.key === 'private_key' && field.required)
    ? { private_key: PRIVATE_KEY }
    : {};
  // In order, each event of a visitor would wait for the one before; the cases show whole batches.
  const fixed = { batch_interval_ms: 20, delivery_order: 'none' };
  const result = compileVendor(vendor, completeConfig(vendor, variant, { ...fixed, ...key, ...over }), OPTIONS);
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.vendor;
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      const token = /\/(?:tokens?|accessToken)(?:\/v\d)?$/.test(one.path);
      if (!token) arrived.push(one);
      const { status, body } = token ? { status: 200, body: { access_token: 'access-token', expires_in: 3600 } } : answer(one);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  bench = await Bench.open();
  bench.start();
});
afterAll(async () => {
  await bench.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

// What a case makes of its event is tested for all of them in packages/catalog/src/vendors/suite.test.ts.
describe.each([
  { name: 'the first case of every vendor, and the first in a batch', cases: cases.filter(({ first }) => first), tags: [] },
  { name: 'the other cases', cases: cases.filter(({ first }) => !first), tags: ['long'] },
])('$name', ({ cases: some, tags }) => {
  beforeAll(async () => {
    const integrations = some.map(({ vendor, variant, config, dropped, batched, index }) =>
      // The samples are of January 2026.
      anIntegration(
        compile(vendor, variant, {
          ...(dropped === 'event_too_old' ? {} : { max_event_age_hours: 0 }),
          // Long enough for a busy machine to put all of them into one batch.
          ...(batched === undefined ? {} : { batch_interval_ms: 2_000 }),
          ...config,
          endpoint: `${origin}/${index}`,
        }),
        {
          id: `int_${index}`,
          pipeline_id: `pl_${index}`,
          vendor: vendor.key,
        },
      ),
    );
    bench.snapshots.set(integrations);
    // The log would drop events with equal ids as repeats, so these get a suffix, which LATER_ID removes again.
    for (const { event, batched = [], index } of some) {
      const events = [event, ...batched];
      const isRepeat = (id: string, at: number) => events.findIndex(({ event_id }) => event_id === id) < at;
      const unique = (id: string, at: number) => (isRepeat(id, at) ? `${id}-later-${at}` : id);
      await bench.append(
        events.map((one, at) => ({ ...one, event_id: unique(one.event_id, at) })),
        `pl_${index}`,
      );
    }
    for (const { index } of some) await bench.settled(`int_${index}`, `pl_${index}`);
  });

  test.each(some.map((one) => [one.title, one] as const))('%s', { tags }, (_title, { requests = [], index }) => {
    const received = arrived.filter(({ path }) => path.startsWith(`/${index}/`) || path.startsWith(`/${index}?`));
    expect(received).toHaveLength(requests.length);
    for (const [i, expected] of requests.entries()) {
      const { method, path, headers, body } = received[i]!;
      if (expected.method) expect(method).toBe(expected.method);
      if (expected.url) expect(path).toBe(expected.url.replace(/^https:\/\/[^/]+/, `/${index}`));
      for (const [name, value] of Object.entries(expected.headers ?? {})) {
        if (!CLOCKED.has(name.toLowerCase()) && !SIGNED.test(value)) expect([name, headers[name.toLowerCase()]]).toEqual([name, value]);
      }
      const sent = body.replaceAll(LATER_ID, '$1');
      if (expected.body !== undefined) expect(typeof expected.body === 'string' ? sent : JSON.parse(sent)).toEqual(expected.body);
    }
  });
});

test('after one bad event fails a whole request, each event is sent alone and gets its own result', async () => {
  const before = arrived.length;
  answer = ({ body }) =>
    body.includes('bad-order') ? { status: 400, body: { error: { code: 100, message: 'no' } } } : { status: 200, body: {} };
  bench.snapshots.set([
    anIntegration(compile(meta, 'default', { max_event_age_hours: 0, endpoint: origin, batch_size: 3, batch_interval_ms: 60_000 }), {
      id: 'int_meta',
      pipeline_id: 'pl_meta',
    }),
  ]);
  const events = ['good-1', 'bad-order', 'good-2'].map((id) => orderCompleted({ order_id: id }, { event_id: id }));
  await bench.append(events, 'pl_meta');
  await bench.settled('int_meta', 'pl_meta');
  const ids = arrived.slice(before).map(({ body }) => (JSON.parse(body).data as { event_id: string }[]).map((one) => one.event_id));
  expect(ids[0]).toEqual(['good-1', 'bad-order', 'good-2']);
  expect(
    ids
      .slice(1)
      .map((one) => one.join())
      .sort(),
  ).toEqual(['bad-order', 'good-1', 'good-2']);
  const letters = (await bench.deadLetters('int_meta')).map(({ event_id, reason }) => [event_id, reason]);
  expect(letters).toEqual([['bad-order', 'http_400: {"code":100,"message":"no"}']]);
});
