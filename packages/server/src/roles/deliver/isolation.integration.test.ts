import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import { describe, expect, test } from 'vitest';
import { encodeEventRecord, eventsTopic } from '../../event-record.ts';
import { systemClock } from '../../runtime/clock.ts';
import { anEvent, anIntegration, compiledWebhook, events, pause, Receiver, until } from './testing/bench.ts';
import { bench, openForEachTest, receiver } from './testing/bench-per-test.ts';

openForEachTest();
const DAY = 86_400_000;

test('F5: one of ten never answers; the other nine are done at once', async () => {
  const silent = await Receiver.start();
  silent.respond = () => undefined;
  const vendors = Array.from({ length: 10 }, (_, i) => compiledWebhook(i === 4 ? silent.url : receiver.url, { timeout_ms: 300_000 }));
  bench.snapshots.set(vendors.map((vendor, i) => anIntegration(vendor, { id: `int_${i}` })));
  bench.start();
  await bench.append(events(300));
  for (let i = 0; i < 10; i++) if (i !== 4) await bench.settled(`int_${i}`);
  expect(receiver.requests).toHaveLength(2_700);
  const health = await bench.deliver.health('int_4');
  expect(health!.waiting).toBe(300);
  expect(silent.requests.length).toBeLessThanOrEqual(vendors[4]!.concurrency);
  await bench.deliver.stop(100);
  await silent.stop();
});

describe('F9: rate limits', () => {
  test('a burst at once, the rest paced; all delivered, no attempt consumed', async () => {
    // A clock that stands still until it is told: with it only the burst can go.
    let stands: number | undefined = systemClock.monotonic();
    const clock = { now: systemClock.now, monotonic: () => stands ?? systemClock.monotonic() };
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url), { rate_limit_rps: 20, rate_limit_burst: 10 })]);
    bench.start({ clock });
    await bench.append(events(30));
    await until(async () => (await bench.deliver.health('int_1'))?.waiting === 20);
    expect(receiver.requests).toHaveLength(10);
    const began = stands;
    stands = undefined;
    await bench.settled();
    expect(receiver.requests.at(-1)!.at - began).toBeGreaterThanOrEqual(999);
    expect(new Set(receiver.requests.map(({ headers }) => headers['x-firsthand-attempt']))).toEqual(new Set(['1']));
    expect(await bench.counts()).toEqual({ delivered: 30 });
  });

  test('the daily cap holds until the next UTC day, also over a restart', async () => {
    // It is noon, so that no day ends meanwhile.
    let shift = DAY / 2 - (Date.now() % DAY);
    const clock = { now: () => Date.now() + shift, monotonic: systemClock.monotonic };
    bench.snapshots.set([anIntegration(compiledWebhook(receiver.url), { rate_limit_daily: 5 })]);
    bench.start({ clock });
    await bench.append(events(8));
    const held = async () => {
      const health = await bench.deliver.health('int_1');
      return health?.status === 'paused' && health.waiting === 3;
    };
    await until(held);
    expect(receiver.requests).toHaveLength(5);
    await bench.restart({ clock });
    await until(held);
    expect(receiver.requests).toHaveLength(5);
    shift += DAY;
    await bench.restart({ clock });
    await bench.settled();
    expect(await bench.counts()).toEqual({ delivered: 8 });
    expect(receiver.requests).toHaveLength(8);
  });
});

test('the cap on requests under way holds', async () => {
  const open: (() => void)[] = [];
  let most = 0;
  // Nothing is answered before four are under way; the pause leaves room for a fifth that must not come.
  receiver.respond = (_request, response) => {
    most = Math.max(
      most,
      open.push(() => response.end()),
    );
    if (open.length === 4) setTimeout(() => open.splice(0).forEach((answer) => void answer()), 5);
  };
  const vendor: CompiledVendor = { ...compiledWebhook(receiver.url), concurrency: 4 };
  bench.snapshots.set([anIntegration(vendor)]);
  bench.start();
  await bench.append(events(60));
  await bench.settled();
  expect(most).toBe(4);
});

test('F11: poison among good events becomes dead letters with stage and reason; the rest is delivered', async () => {
  const real = compiledWebhook(receiver.url);
  const vendor: CompiledVendor = {
    ...real,
    verbatim: undefined,
    buildAtOnce(event, context) {
      if (event.properties?.poison === 'throws') throw new Error('boom');
      if (event.properties?.poison === 'fails') return { kind: 'failed', reason: 'no JSON' };
      return real.build(event, context);
    },
  };
  bench.snapshots.set([anIntegration(vendor)]);
  bench.start();
  const poisoned = events(2_000).map((event, i) =>
    i % 100 === 0 ? { ...event, properties: { poison: 'throws' } } : i % 100 === 1 ? { ...event, properties: { poison: 'fails' } } : event,
  );
  await bench.append(poisoned);
  await bench.log.append([
    { topic: eventsTopic('pl_1'), records: [{ id: 'pl_1:broken', data: Buffer.from('{"received_at":1}\n{"event_id"') }] },
  ]);
  await bench.settled();
  expect(await bench.counts()).toEqual({ delivered: 1_960, dead_lettered: 41 });
  const reasons = (await bench.deadLetters()).map(({ stage, reason }) => `${stage}: ${reason}`);
  expect(new Set(reasons.map((reason) => reason.split(' at ')[0]))).toEqual(
    new Set(['mapping: the mapping failed: boom', 'mapping: no JSON', expect.stringContaining('mapping: the stored event cannot be read')]),
  );
});

test('F10: a restart during a retry wait keeps wait and count', async () => {
  receiver.respond = (_request, response) => void response.writeHead(503).end();
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url, { max_retries: 2 }))]);
  bench.start({ retryBaseMs: 100 });
  await bench.append([anEvent('e1')]);
  await until(() => receiver.requests.length === 2);
  await pause(30);
  await bench.restart({ retryBaseMs: 100 });
  await until(async () => (await bench.deadLetters()).length === 1);
  expect(receiver.requests).toHaveLength(3);
  expect(receiver.requests[2]!.at - receiver.requests[1]!.at).toBeGreaterThanOrEqual(399);
  expect((await bench.deadLetters())[0]!.attempts).toHaveLength(3);
});

test('F23: a stop under load, again and again, loses and repeats nothing', async () => {
  receiver.respond = (_request, response) => void setTimeout(() => response.end(), 3);
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url)), anIntegration(compiledWebhook(receiver.url), { id: 'int_2' })]);
  bench.start();
  await bench.append(events(3_000));
  for (let round = 0; round < 4; round++) {
    await pause(60);
    await bench.restart();
  }
  await bench.settled('int_1');
  await bench.settled('int_2');
  expect(receiver.requests).toHaveLength(6_000);
  expect(await bench.counts('int_1')).toEqual({ delivered: 3_000 });
  expect(await bench.counts('int_2')).toEqual({ delivered: 3_000 });
});

test('F26: an event appended twice is delivered once', async () => {
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
  bench.start();
  await bench.append([...events(50), ...events(20)]);
  await bench.append(events(30));
  await bench.settled();
  expect(receiver.requests).toHaveLength(50);
});

test('an event of a megabyte does not hold the others up', async () => {
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
  bench.start();
  const large = Array.from({ length: 40 }, (_, i) => anEvent(`l${i}`, { properties: { text: 'x'.repeat(1_000_000) } }));
  await bench.append(large);
  await bench.append(events(10));
  await bench.settled();
  expect(receiver.requests).toHaveLength(50);
  expect(encodeEventRecord({ received_at: 0, org_id: 'o', pipeline_id: 'p' }, large[0]!).length).toBeGreaterThan(1_000_000);
});

test('watchers see each step, and no frame is built without watchers', async () => {
  const frames: { event_id?: string }[] = [];
  let status = 500;
  receiver.respond = (_request, response) => {
    response.writeHead(status).end();
    status = 200;
  };
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url), { event_filter: { event_names: ['Order Completed'] } })]);
  bench.start({
    tap: { watched: (orgId) => orgId === 'org_1', emit: (_orgId, frame) => void frames.push(frame as { event_id?: string }) },
  });
  await bench.append([anEvent('e1'), anEvent('e2', { event: 'Other' })]);
  await bench.settled();
  const { e1, e2, ...others } = Object.groupBy(frames, ({ event_id = '' }) => event_id);
  expect(e1).toEqual([
    expect.objectContaining({ stage: 'retrying', status: 500, reason: expect.any(String) }),
    expect.objectContaining({ stage: 'delivered', status: 200, payload: anEvent('e1') }),
  ]);
  expect(e2).toEqual([
    expect.objectContaining({ stage: 'dropped', reason: 'event_filtered', integration_id: 'int_1', pipeline_id: 'pl_1' }),
  ]);
  expect(others).toEqual({});
});

test('health: failing after a failure, ok again after a success', async () => {
  let status = 500;
  receiver.respond = (_request, response) => void response.writeHead(status).end();
  bench.snapshots.set([anIntegration(compiledWebhook(receiver.url))]);
  bench.start({ retryBaseMs: 200 });
  await bench.append(events(1));
  await until(async () => (await bench.deliver.health('int_1'))?.status === 'failing');
  status = 200;
  await bench.settled();
  expect(await bench.deliver.health('int_1')).toMatchObject({ status: 'ok', waiting: 0, last_error: expect.any(String) });
});
