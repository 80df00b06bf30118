import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import pino from 'pino';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { eventsTopic } from '../../event-record.ts';
import type { Delivery } from '../../stores/event-log/port.ts';
import type { Sent } from '../../transports/port.ts';
import type { Sender } from '../../transports/sender.ts';
import type { ClosingVerdict } from './batch-closing.ts';
import { packMembers } from './packed-members.ts';
import { type RestoredBatch, SealedBatches } from './sealed-batches.ts';
import type { HeldEvent } from './settlement.ts';
import { anEvent, anIntegration, Bench, until } from './testing/bench.ts';

const definition = defineVendor({
  key: 'files',
  name: 'Files',
  description: 'A sealed target.',
  category: 'cloud_storage',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://example.com',
  setup_steps: ['None.'],
  config_fields: [],
  transport: {
    kind: 'postgresql',
    connection: {},
    target: '{type}/',
    // Long enough for five events on a slow machine: most tests are about one full batch.
    batch: { max_items: 5, max_bytes: 1_000_000, interval_ms: 500 },
    sealed: true,
    files: true,
  },
  default_action: 'pass_through',
  rate: { rps: 10_000 },
  concurrency: 2,
  variants: [{ key: 'default', name: 'Default', description: 'All.', default_config: {} }],
});
const compiled = compileVendor(definition, {}, { mode: 'development', allow_private: true });
if (!compiled.ok) throw new Error(JSON.stringify(compiled));
const { vendor } = compiled;

/** A destination that stores nothing until it is told what to answer. */
class Destination implements Sender {
  readonly batches: string[][] = [];
  answer: () => Promise<Sent['verdict']> = async () => ({ kind: 'delivered' });
  async send({ items }: Parameters<Sender['send']>[0]): Promise<Sent> {
    this.batches.push(items.map(({ event_id }) => event_id));
    return { verdict: await this.answer(), status: null, at: Date.now(), duration_ms: 1 };
  }
  async close(): Promise<void> {}
}

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
  bench.snapshots.set([anIntegration(vendor)]);
});
afterEach(() => bench.close());
const never = () => new Promise<never>(() => undefined);
const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => `e${from + i}`);

/** As an earlier process would have left it: every event is in one batch, which has its verdict. */
async function closeBatchOfAll(verdict: ClosingVerdict): Promise<void> {
  const keys: string[] = [];
  for await (const { position } of bench.log.read(eventsTopic('pl_1'), { limit: 10 })) keys.push(`e${position}`);
  const append = (id: string, more: object) =>
    bench.log.append([{ topic: 'batches.int_1', records: [{ id, data: Buffer.from(JSON.stringify({ v: 1, id: 'bat_1', ...more })) }] }]);
  await append('s', { sealed: { revision: 1, at: 1, members: packMembers(keys) }, settled: [] });
  await append('c', { closed: { verdict, at: 2, duration_ms: 3 } });
}

test('batches that were at the destination when the process ended are sent again as they were', async () => {
  const before = new Destination();
  before.answer = never;
  await bench.append(ids(0, 10).map((id) => anEvent(id)));
  bench.start({ sender: before });
  await until(() => before.batches.length === 2);
  await bench.deliver.stop(10);
  await bench.append(ids(10, 7).map((id) => anEvent(id)));
  const after = new Destination();
  await bench.restart({ sender: after });
  await bench.settled();
  expect(after.batches.slice(0, 2)).toEqual(before.batches);
  expect(after.batches.flat()).toEqual(ids(0, 17));
  expect(await bench.counts()).toEqual({ delivered: 17 });
});

test('a batch that fails stays together through every attempt', async () => {
  const destination = new Destination();
  let attempts = 0;
  destination.answer = async () => (++attempts < 3 ? { kind: 'unavailable', reason: 'busy' } : { kind: 'delivered' });
  await bench.append(ids(0, 5).map((id) => anEvent(id)));
  bench.start({ sender: destination });
  await bench.settled();
  expect(destination.batches).toEqual([ids(0, 5), ids(0, 5), ids(0, 5)]);
  expect(await bench.counts()).toEqual({ retrying: 10, delivered: 5 });
});

test('after the last attempt each member is a dead letter with every attempt', async () => {
  const destination = new Destination();
  destination.answer = async () => ({ kind: 'unavailable', reason: 'busy' });
  await bench.append(ids(0, 5).map((id) => anEvent(id)));
  bench.start({ sender: destination, retryBaseMs: 1 });
  await bench.settled();
  expect(destination.batches).toHaveLength(6);
  expect((await bench.deadLetters()).map(({ reason, attempts }) => [reason, attempts.length])).toEqual(ids(0, 5).map(() => ['busy', 6]));
});

test('members of a closed batch whose settlement was not stored are settled without sending', async () => {
  await bench.append(ids(0, 4).map((id) => anEvent(id)));
  await closeBatchOfAll({ kind: 'delivered' });
  await bench.append(ids(4, 1).map((id) => anEvent(id)));
  const destination = new Destination();
  bench.start({ sender: destination });
  await bench.settled();
  expect(destination.batches).toEqual([['e4']]);
  expect(await bench.counts()).toEqual({ delivered: 5 });
});

test('of a batch with mixed verdicts every member is settled, and the rest is sent again (it stayed unsettled)', async () => {
  const destination = new Destination();
  const busy = { kind: 'unavailable', reason: 'busy' } as const;
  const items = [busy, { kind: 'delivered' }, { kind: 'refused', reason: 'too long' }, busy, { kind: 'delivered' }] as const;
  destination.answer = async () => (destination.batches.length === 1 ? { kind: 'partial', items: [...items] } : { kind: 'delivered' });
  await bench.append(ids(0, 5).map((id) => anEvent(id)));
  bench.start({ sender: destination });
  await bench.settled();
  expect(destination.batches).toEqual([ids(0, 5), ['e0', 'e3']]);
  expect(await bench.counts()).toEqual({ retrying: 2, delivered: 4, dead_lettered: 1 });
});

test('after a crash each member of a closed batch has its own verdict, and one that left it is sent', async () => {
  await bench.append(ids(0, 3).map((id) => anEvent(id)));
  await closeBatchOfAll([{ kind: 'delivered' }, { kind: 'refused', reason: 'too long' }, { kind: 'left' }]);
  const destination = new Destination();
  bench.start({ sender: destination });
  await bench.settled();
  expect(destination.batches).toEqual([['e2']]);
  expect(await bench.counts()).toEqual({ delivered: 2, dead_lettered: 1 });
});

test('switching the integration off drops a batch that waits for its next attempt', async () => {
  const destination = new Destination();
  destination.answer = async () => ({ kind: 'unavailable', reason: 'busy', retry_after_ms: 60_000 });
  await bench.append(ids(0, 5).map((id) => anEvent(id)));
  bench.start({ sender: destination });
  await until(async () => (await bench.counts()).retrying === 5);
  bench.snapshots.set([anIntegration(vendor, { enabled: false })]);
  await bench.settled();
  expect(await bench.counts()).toEqual({ retrying: 5, 'dropped:integration_disabled': 5 });
});

test('a batch that waits for its next attempt goes out at once, with the new configuration, when that changes', async () => {
  const destination = new Destination();
  const vendors: unknown[] = [];
  const send = destination.send.bind(destination);
  destination.send = (plan) => {
    vendors.push(plan.vendor);
    return send(plan);
  };
  destination.answer = async () => ({ kind: 'unavailable', reason: 'wrong key', retry_after_ms: 60_000 });
  await bench.append(ids(0, 5).map((id) => anEvent(id)));
  bench.start({ sender: destination });
  await until(async () => (await bench.counts()).retrying === 5);
  destination.answer = async () => ({ kind: 'delivered' });
  const corrected = { ...vendor };
  bench.snapshots.set([anIntegration(corrected)]);
  await bench.settled();
  expect(destination.batches).toEqual([ids(0, 5), ids(0, 5)]);
  expect(vendors).toEqual([vendor, corrected]);
});

test('a batch whose members were settled elsewhere is sent without them, once the wait is over', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const position = (n: number) => String(n).padStart(16, '0');
  const record = { v: 1, id: 'bat_1', sealed: { revision: 1, at: 1, members: 'e1 1x2' }, settled: [] };
  async function* read() {
    yield { id: 's', data: Buffer.from(JSON.stringify(record)), position: position(1), time: 1 };
  }
  const log = { append: async () => [], read, expire: async () => 0, remove: async () => undefined };
  const sent: RestoredBatch[] = [];
  const logger = pino({ level: 'silent' });
  const batches = new SealedBatches({ log, clock: { now: () => 2 }, logger }, 'int_1', (batch) => void sent.push(batch));
  await batches.load();
  const held = (n: number) => ({ delivery: { record: { position: position(n) } } as Delivery, replay: false }) as HeldEvent;
  expect([batches.claim(held(1)), batches.claim(held(3)), batches.claim(held(9))]).toEqual([
    { kind: 'waits' },
    { kind: 'waits' },
    undefined,
  ]);
  vi.advanceTimersByTime(300_000);
  expect(sent.map(({ members }) => members.map(({ delivery }) => delivery.record.position))).toEqual([[position(1), position(3)]]);
  expect(batches.waiting).toBe(false);
});

test('members of a failed batch that were not stored as retries keep their place in it', async () => {
  const position = (n: number) => String(n).padStart(16, '0');
  const attempt = { at: '2026-01-01T00:00:00.000Z', status: 503, error: 'http_503', duration_ms: 3 };
  const state = { v: 1, attempts: [attempt], revision: 1, batch: { id: 'bat_1', index: 0, size: 2 } } as const;
  const retried = { kind: 'retry', attempt, delay_ms: 1_000, reason: 'http_503', state } as const;
  const verdict = [{ kind: 'left' }, { kind: 'delivered' }, { kind: 'left' }];
  async function* read() {
    const records = [
      { v: 1, id: 'bat_0~1', sealed: { revision: 1, at: 1, members: 'e1 1x2' }, settled: [] },
      { v: 1, id: 'bat_0~1', closed: { verdict, retried, at: 2, duration_ms: 3, status: 200 } },
    ];
    for (const [n, record] of records.entries())
      yield { id: String(n), data: Buffer.from(JSON.stringify(record)), position: position(n), time: 1 };
  }
  const log = { append: async () => [], read, expire: async () => 0, remove: async () => undefined };
  const batches = new SealedBatches({ log, clock: { now: () => 2 }, logger: pino({ level: 'silent' }) }, 'int_1', () => undefined);
  await batches.load();
  const claim = (n: number, stored?: unknown) =>
    batches.claim({ delivery: { record: { position: position(n) }, state: stored } as Delivery, replay: false } as HeldEvent, 1);
  expect(claim(1)).toEqual({ kind: 'closed', settlement: retried });
  expect(claim(2)).toMatchObject({ kind: 'closed', settlement: { kind: 'delivered', attempt: { status: 200 } } });
  expect(claim(3)).toMatchObject({ kind: 'closed', settlement: { state: { batch: { id: 'bat_1', index: 1, size: 2 } } } });
  // This one is stored: it comes for its next attempt.
  expect(claim(3, state)).toBeUndefined();
});
