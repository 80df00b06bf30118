import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { CompiledVendor, Verdict } from '@firsthand/core/vendor/compiled.ts';
import { describe, expect, test } from 'vitest';
import { anEvent, anIntegration, compiledWebhook, events, pause, type Received, until } from './testing/bench.ts';
import { bench, openForEachTest, receiver } from './testing/bench-per-test.ts';

openForEachTest();
const idsOf = ({ body }: Received) => (JSON.parse(body) as CanonicalEvent[]).map((event) => event.event_id);
const batched = (config = {}) =>
  compiledWebhook(receiver.url, { batch_enabled: true, batch_size: 10, batch_interval_ms: 1_000, ...config });

describe('a batch is sent', () => {
  test('when it is full; a partial batch waits for its time', async () => {
    bench.snapshots.set([anIntegration(batched({ batch_interval_ms: 300_000 }))]);
    bench.start();
    await bench.append(events(25));
    await until(async () => (await bench.counts()).delivered === 20);
    expect(receiver.requests.map((request) => idsOf(request).length)).toEqual([10, 10]);
    expect(await bench.deliver.health('int_1')).toMatchObject({ waiting: 5 });
  });

  test('when the time since its first event is up', async () => {
    bench.snapshots.set([anIntegration(batched({ batch_interval_ms: 400 }))]);
    bench.start();
    const began = performance.now();
    await bench.append(events(5));
    await bench.settled();
    expect(receiver.requests.map((request) => idsOf(request).length)).toEqual([5]);
    expect(receiver.requests[0]!.at - began).toBeGreaterThanOrEqual(399);
    expect(await bench.counts()).toEqual({ delivered: 5 });
  });

  test('when it is full by bytes', async () => {
    const vendor: CompiledVendor = { ...batched(), batch: { max_items: 100, max_bytes: 700, interval_ms: 200 } };
    bench.snapshots.set([anIntegration(vendor)]);
    bench.start();
    await bench.append(events(30));
    await bench.settled();
    for (const { body } of receiver.requests) expect(body.length).toBeLessThan(720);
    expect(new Set(receiver.eventIds).size).toBe(30);
    expect(receiver.requests.length).toBeGreaterThan(2);
  });

  test('an event larger than the byte limit is sent alone', async () => {
    const vendor: CompiledVendor = { ...batched(), batch: { max_items: 100, max_bytes: 100, interval_ms: 10_000 } };
    bench.snapshots.set([anIntegration(vendor)]);
    bench.start();
    await bench.append(events(3));
    await bench.settled();
    expect(receiver.requests).toHaveLength(3);
  });

  test('a batch of 5,000, more than the log hands out at once', async () => {
    bench.snapshots.set([anIntegration(batched({ batch_size: 5_000, batch_interval_ms: 300_000 }))]);
    bench.start();
    await bench.append(events(5_000));
    await bench.settled();
    expect(receiver.requests.map((request) => idsOf(request).length)).toEqual([5_000]);
  });
});

test('a failed batch is retried whole, with the same id', async () => {
  receiver.respond = (_request, response) => void response.writeHead(receiver.requests.length <= 2 ? 500 : 200).end();
  bench.snapshots.set([anIntegration(batched())]);
  bench.start();
  await bench.append(events(10));
  await until(() => receiver.requests.length === 3);
  await bench.settled();
  const [first, second, third] = receiver.requests;
  expect(idsOf(second!)).toEqual(idsOf(first!));
  expect(idsOf(third!)).toEqual(idsOf(first!));
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(receiver.requests.map(({ headers }) => headers['x-firsthand-attempt'])).toEqual(['1', '2', '3']);
  expect(first!.headers['webhook-id']).toMatch(/^bat_/);
  expect(await bench.counts()).toEqual({ retrying: 20, delivered: 10 });
});

test('of a partly accepted batch exactly the failed items are tried again', async () => {
  const fate: Record<string, Verdict['kind']> = { e3: 'unavailable', e7: 'unavailable', e5: 'refused' };
  const verdictOf = (id: string): Exclude<Verdict, { kind: 'partial' }> => {
    const kind = fate[id];
    if (kind === 'refused') return { kind: 'refused', reason: 'bad item' };
    if (kind === 'unavailable' && receiver.requests.length < 3) return { kind: 'unavailable', reason: 'busy' };
    return { kind: 'delivered' };
  };
  const vendor: CompiledVendor = {
    ...batched(),
    read: (_reply, items) => ({ kind: 'partial', items: items.map((item) => verdictOf(item.event_id)) }),
  };
  bench.snapshots.set([anIntegration(vendor)]);
  bench.start();
  await bench.append(events(10));
  await until(() => receiver.requests.length === 3);
  await bench.settled();
  expect(receiver.requests.map(idsOf)).toEqual([events(10).map((event) => event.event_id), ['e3', 'e7'], ['e3', 'e7']]);
  expect(receiver.requests[1]!.headers['webhook-id']).toBe(receiver.requests[2]!.headers['webhook-id']);
  expect(receiver.requests[1]!.headers['webhook-id']).not.toBe(receiver.requests[0]!.headers['webhook-id']);
  expect(await bench.counts()).toEqual({ delivered: 9, retrying: 4, dead_lettered: 1 });
  expect(await bench.deadLetters()).toMatchObject([{ event_id: 'e5', reason: 'bad item' }]);
});

test('F10: a restart while a batch fills loses and repeats nothing', async () => {
  bench.snapshots.set([anIntegration(batched({ batch_interval_ms: 300_000 }))]);
  bench.start();
  await bench.append(events(6));
  await pause(50);
  expect(receiver.requests).toHaveLength(0);
  await bench.restart();
  await bench.append(events(4, 'f'));
  await bench.settled();
  expect(receiver.requests).toHaveLength(1);
  expect(receiver.eventIds.sort()).toEqual([...events(6), ...events(4, 'f')].map((event) => event.event_id).sort());
});

test('F10: a restart during the retry wait of a batch keeps its id, its attempts and its wait', async () => {
  receiver.respond = (_request, response) => void response.writeHead(receiver.requests.length === 1 ? 500 : 200).end();
  bench.snapshots.set([anIntegration(batched())]);
  bench.start({ retryBaseMs: 400 });
  await bench.append(events(10));
  await until(() => receiver.requests.length === 1);
  await pause(50);
  await bench.restart({ retryBaseMs: 400 });
  await until(() => receiver.requests.length === 2);
  const [first, second] = receiver.requests;
  expect(second!.at - first!.at).toBeGreaterThanOrEqual(399);
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  expect(second!.headers['x-firsthand-attempt']).toBe('2');
});

test('batches that were at the vendor when the process ended are sent again under their ids (the events formed other batches)', async () => {
  receiver.respond = () => undefined;
  bench.snapshots.set([anIntegration(batched({ batch_size: 100, batch_interval_ms: 50 }))]);
  bench.start();
  await bench.append(events(130));
  // Two batches; more where the machine is so slow that the interval ends in between.
  await until(() => receiver.eventIds.length === 130);
  const before = receiver.requests.splice(0);
  await bench.deliver.stop(1);
  await bench.append(events(70, 'f'));
  receiver.respond = (_request, response) => void response.end();
  await bench.restart();
  await bench.settled();
  const idOf = ({ headers }: Received) => headers['webhook-id'];
  expect(receiver.requests.slice(0, before.length).map(idOf).sort()).toEqual(before.map(idOf).sort());
  expect(receiver.eventIds).toHaveLength(200);
  expect(await bench.counts()).toEqual({ delivered: 200 });
});

test('batches of an earlier revision are not sent again as they were: its credentials may be revoked', async () => {
  receiver.respond = () => undefined;
  bench.snapshots.set([anIntegration(batched({ headers: { 'X-Revision': '1' } }))]);
  bench.start();
  await bench.append(events(10));
  await until(() => receiver.requests.length === 1);
  await bench.deliver.stop(1);
  receiver.requests.splice(0);
  receiver.respond = (_request, response) => void response.end();
  bench.snapshots.set([anIntegration(batched({ headers: { 'X-Revision': '2' } }), { revision_number: 2 })]);
  await bench.restart();
  await bench.settled();
  expect(receiver.requests.map(({ headers }) => headers['x-revision'])).toEqual(['2']);
  expect(receiver.eventIds).toHaveLength(10);
});

test('a request that one item makes impossible: only that item becomes a dead letter', async () => {
  const real = batched();
  const vendor: CompiledVendor = {
    ...real,
    request(items, context) {
      if (items.some((item) => item.event_id === 'e4')) throw new Error('cannot be encoded');
      return real.request(items, context);
    },
  };
  bench.snapshots.set([anIntegration(vendor)]);
  bench.start();
  await bench.append(events(10));
  await bench.settled();
  expect(await bench.counts()).toEqual({ delivered: 9, dead_lettered: 1 });
  expect(await bench.deadLetters()).toMatchObject([{ event_id: 'e4', reason: 'the request cannot be built: cannot be encoded' }]);
});

test('only the failed requests of an event are retried', async () => {
  const real = compiledWebhook(receiver.url);
  const vendor: CompiledVendor = {
    ...real,
    verbatim: undefined,
    buildAtOnce(event, context) {
      const built = real.build(event, context);
      return built.kind === 'items' ? { kind: 'items', items: ['a', 'b', 'c'].map((payload) => ({ ...built.items[0]!, payload })) } : built;
    },
    request: (items) => ({ method: 'POST', url: receiver.url, headers: {}, body: JSON.stringify(items[0]!.payload) }),
    read: (reply) => (reply.status === 200 ? { kind: 'delivered' } : { kind: 'unavailable', reason: 'busy' }),
  };
  const failures = { b: 2 };
  receiver.respond = ({ body }, response) => void response.writeHead(body === '"b"' && failures.b-- > 0 ? 500 : 200).end();
  bench.snapshots.set([anIntegration(vendor)]);
  bench.start();
  await bench.append([anEvent('e1')]);
  await bench.settled();
  expect(receiver.requests.map(({ body }) => body).sort()).toEqual(['"a"', '"b"', '"b"', '"b"', '"c"']);
  expect(await bench.counts()).toEqual({ retrying: 2, delivered: 1 });
});

test('events that wait for their batch use a new revision (they went out with the credentials of the former one)', async () => {
  const first = batched({ batch_interval_ms: 300_000, headers: { 'X-Revision': '1' } });
  let built = 0;
  const buildAtOnce: CompiledVendor['buildAtOnce'] = (event, context) => {
    built++;
    return first.build(event, context);
  };
  bench.snapshots.set([anIntegration({ ...first, verbatim: undefined, buildAtOnce })]);
  bench.start();
  await bench.append(events(3));
  await until(() => built === 3);
  bench.snapshots.set([anIntegration(batched({ batch_interval_ms: 50, headers: { 'X-Revision': '2' } }), { revision_number: 2 })]);
  await bench.append(events(2, 'f'));
  await bench.settled();
  expect(new Set(receiver.requests.map(({ headers }) => headers['x-revision']))).toEqual(new Set(['2']));
  expect(receiver.eventIds).toEqual(['e0', 'e1', 'e2', 'f0', 'f1']);
});

test('a revision with larger batches holds more events in flight and repeats none', async () => {
  const held: (() => void)[] = [];
  receiver.respond = (_request, response) => {
    if (receiver.requests.length === 1) held.push(() => response.end());
    else response.end();
  };
  bench.snapshots.set([anIntegration({ ...compiledWebhook(receiver.url), concurrency: 1 })]);
  bench.start();
  await bench.append(events(1_500));
  await until(() => held.length === 1);
  bench.snapshots.set([anIntegration(batched({ batch_size: 1_000, batch_interval_ms: 300_000 }), { revision_number: 2 })]);
  held[0]!();
  const sizes = () => receiver.requests.filter(({ body }) => body.startsWith('[')).map((request) => idsOf(request).length);
  await until(() => sizes().includes(1_000));
  bench.snapshots.set([anIntegration(batched({ batch_size: 1_000, batch_interval_ms: 50 }), { revision_number: 3 })]);
  await bench.settled();
  const singles = receiver.requests.filter(({ body }) => body.startsWith('{')).length;
  expect(singles + sizes().reduce((sum, size) => sum + size, 0)).toBe(1_500);
  expect(new Set(receiver.eventIds).size).toBe(1_500);
});
