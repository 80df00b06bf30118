import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { decodeOutcomes } from '../../outcomes/outcome-log.ts';
import type { Alongside, Delivery } from '../../stores/event-log/port.ts';
import type { HeldEvent, Settlement } from './settlement.ts';
import { SettlementPace } from './settlement-pace.ts';
import { SettlementWriter, type SettlementWriterDeps } from './settlement-writer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const DELIVERED = { kind: 'delivered', attempt: { status: 200 } } as unknown as Settlement;
const DROPPED: Settlement = { kind: 'dropped', reason: 'event_filtered' };

const idOf = (outcome: Outcome) => ('event_id' in outcome ? outcome.event_id : '');

/** A writer of an integration, and what it wrote: the event ids of each write. */
function aWriter(pace: SettlementPace, together = 64) {
  const writes: string[][] = [];
  const log = {
    atomic: true,
    ackAll: async (_deliveries: readonly Delivery[], alongside?: Alongside) =>
      void writes.push((alongside?.appends ?? []).flatMap(({ records }) => records.flatMap(decodeOutcomes)).map(idOf)),
  };
  const deps = {
    log,
    clock: { now: () => Date.now(), monotonic: () => Date.now() },
    tap: { watched: () => false },
    deadLetterRetentionMs: 1,
    alongside: () => [],
    together: () => together,
    pace,
    written: () => undefined,
  } as unknown as SettlementWriterDeps;
  const writer = new SettlementWriter(deps, 'int_1');
  let last = 0;
  const settle = (settlement: Settlement) => {
    const event_id = `e${++last}`;
    const decoded = { event_id, event: { type: 'track' }, shared: { org_id: 'org_1', pipeline_id: 'pl_1' }, received_at: 0 };
    const held = { delivery: { record: { id: event_id } }, decoded, compiled: { integration: { id: 'int_1' } }, replay: false };
    writer.write(held as unknown as HeldEvent, settlement);
  };
  return { writes, settle };
}

test('events that are delivered now and then share one write', async () => {
  const { writes, settle } = aWriter(new SettlementPace());
  for (let i = 0; i < 3; i++) {
    settle(DELIVERED);
    await vi.advanceTimersByTimeAsync(5);
  }
  expect(writes).toEqual([]);
  await vi.advanceTimersByTimeAsync(5);
  expect(writes).toEqual([['e1', 'e2', 'e3']]);
});

test('an event that follows another one at once is written with it at the end of the turn', async () => {
  const { writes, settle } = aWriter(new SettlementPace());
  settle(DELIVERED);
  settle(DELIVERED);
  await vi.advanceTimersByTimeAsync(0);
  expect(writes).toEqual([['e1', 'e2']]);
});

test('at most four settlements wait in a process, whatever the number of integrations', async () => {
  const pace = new SettlementPace();
  const writers = Array.from({ length: 6 }, () => aWriter(pace));
  for (const { settle } of writers) {
    settle(DELIVERED);
    await vi.advanceTimersByTimeAsync(3);
  }
  expect(writers.map(({ writes }) => writes.length)).toEqual([0, 0, 0, 0, 1, 1]);
  await vi.advanceTimersByTimeAsync(20);
  expect(writers.map(({ writes }) => writes.length)).toEqual([1, 1, 1, 1, 1, 1]);
  // They may wait again.
  writers[0]!.settle(DELIVERED);
  await vi.advanceTimersByTimeAsync(3);
  expect(writers[0]!.writes).toHaveLength(1);
});

test('a settlement that is no delivery does not wait, nor does one that the next request waits for', async () => {
  const dropping = aWriter(new SettlementPace());
  dropping.settle(DELIVERED);
  await vi.advanceTimersByTimeAsync(5);
  dropping.settle(DROPPED);
  await vi.advanceTimersByTimeAsync(0);
  expect(dropping.writes).toEqual([['e1', 'e2']]);
  const oneByOne = aWriter(new SettlementPace(), 1);
  oneByOne.settle(DELIVERED);
  await vi.advanceTimersByTimeAsync(0);
  expect(oneByOne.writes).toEqual([['e1']]);
});
