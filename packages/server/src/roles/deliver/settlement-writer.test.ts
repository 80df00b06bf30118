import { expect, test, vi } from 'vitest';
import { encodeEventRecord, openEventRecord } from '../../event-record.ts';
import { type Append, RecordTooLarge } from '../../stores/event-log/port.ts';
import type { HeldEvent } from './settlement.ts';
import { SettlementWriter, type SettlementWriterDeps } from './settlement-writer.ts';

function bench(delivery: object) {
  const warned: unknown[] = [];
  const written = vi.fn();
  const addDeadLetter = vi.fn();
  const deps = {
    log: { atomic: false },
    clock: { now: () => 1_700_000_000_000, monotonic: () => 0 },
    logger: { debug: () => undefined, warn: (_fields: object, message: string) => warned.push(message) },
    tap: { watched: () => false },
    attempts: { addDeadLetter },
    deadLetterRetentionMs: 1_000,
    alongside: () => [],
    together: () => 64,
    written,
  } as unknown as SettlementWriterDeps;
  const event = {
    event_id: 'e1',
    type: 'track',
    event: 'Big',
    user_id: 'u1',
    timestamp: 't',
    context: {},
    properties: { note: 'x'.repeat(5_000) },
  };
  const meta = { received_at: 1_699_999_999_000, org_id: 'org_1', pipeline_id: 'pl_1' };
  const held = {
    decoded: openEventRecord(encodeEventRecord(meta, event as Parameters<typeof encodeEventRecord>[1])),
    delivery: { attempt: 1, record: { id: 'pl_1:e1', data: Buffer.alloc(5_000) }, ...delivery },
    compiled: { integration: { id: 'int_1', vendor: 'http', revision_number: 1 } },
    replay: false,
  } as unknown as HeldEvent;
  return { held, writer: new SettlementWriter(deps, 'int_1', 'int_1'), written, warned, addDeadLetter };
}

test('a dead letter that the log cannot store is stored without its event', async () => {
  const stored: Append[] = [];
  const ack = async (appends: Append[]) => {
    for (const { records } of appends)
      for (const { data } of records) if (data.length > 2_000) throw new RecordTooLarge(`a record of ${data.length} bytes`);
    stored.push(...appends);
  };
  const { held, writer, written, warned, addDeadLetter } = bench({ ack });
  writer.write(held, { kind: 'dead_letter', stage: 'delivery', reason: 'http_404', attempts: [] });
  expect(writer.unwritten).toBe(1);
  await expect.poll(() => written).toHaveBeenCalled();
  expect(writer.unwritten).toBe(0);
  expect(addDeadLetter).toHaveBeenCalledOnce();
  const [letter, outcome] = stored.map(({ records }) => JSON.parse(Buffer.from(records[0]?.data ?? '').toString()));
  const kept = { event_id: 'e1', type: 'track', event: 'Big', user_id: 'u1', timestamp: 't', truncated: true };
  expect(letter).toMatchObject({ event_id: 'e1', reason: 'http_404' });
  expect(letter.event).toEqual(kept);
  expect(outcome[0].dead_letter.event).toEqual(kept);
  expect(warned).toEqual(['dead letter stored without its event: too large for the log']);
});

test('an event that the log cannot store with the state of its retry becomes a dead letter', async () => {
  const stored: Append[] = [];
  const ack = async (appends: Append[]) => void stored.push(...appends);
  const retryIn = vi.fn(async () => {
    throw new RecordTooLarge('a record of 9 bytes is more than the broker takes');
  });
  const { held, writer, written, addDeadLetter } = bench({ ack, retryIn });
  const attempt = { at: '2026-11-19T10:00:00.000Z', status: 503, error: 'http_503', duration_ms: 5 };
  const state = { v: 1, attempts: [attempt], revision: 1 } as const;
  writer.write(held, { kind: 'retry', attempt, delay_ms: 1_000, reason: 'http_503', state: { ...state, attempts: [attempt] } });
  await expect.poll(() => written).toHaveBeenCalledOnce();
  expect(writer.unwritten).toBe(0);
  expect([retryIn, addDeadLetter].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  const [letter] = stored.map(({ records }) => JSON.parse(Buffer.from(records[0]?.data ?? '').toString()));
  expect(letter).toMatchObject({ event_id: 'e1', stage: 'delivery', attempts: [attempt], event: { event: 'Big' } });
  expect(letter.reason).toBe('cannot wait for a retry: a record of 9 bytes is more than the broker takes');
});
