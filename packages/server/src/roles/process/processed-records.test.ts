import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { Processed } from '@firsthand/core/process/process-event.ts';
import { expect, test } from 'vitest';
import { decodeOutcomes } from '../../outcomes/outcome-log.ts';
import type { Delivery } from '../../stores/event-log/port.ts';
import { storedId, storedName } from '../../stores/observe/stored-text.ts';
import { type Finished, outcomeRecordsOf } from './processed-records.ts';

function finished(id: string, kind: Processed['kind']): Finished {
  const event: CanonicalEvent = { event_id: id, type: 'track', event: 'x', timestamp: '2026-01-01T00:00:00.000Z', context: {} };
  const stored = { id: `pl_1:${id}`, data: new Uint8Array(), position: '0', time: 0 };
  const envelope = { event_id: id, org_id: 'org_1', pipeline_id: 'pl_1', received_at: 1 } as Finished['record']['envelope'];
  const delivery = { record: stored } as Delivery;
  const record = { id: stored.id, delivery, topic: 'ingest.0', bytes: 0, envelope, event, unreadable: undefined };
  const ended = { event, decisions: [], visitor: undefined };
  if (kind === 'processed') return { record, result: { kind, ...ended } };
  return kind === 'dropped'
    ? { record, result: { kind, reason: 'bot', ...ended } }
    : { record, result: { kind, reason: 'broken', ...ended } };
}
const all = [
  ...Array.from({ length: 40 }, (_, i) => finished(`e${i}`, i === 3 ? 'dropped' : 'processed')),
  finished('bad', 'failed'),
  ...Array.from({ length: 30 }, (_, i) => finished(`f${i}`, 'processed')),
];
const settings = { positions: new Map([[1, '0000000000000007']]), now: 5, deadLetterRetentionMs: 1_000 };
const idsIn = (record: { data: Uint8Array }) => decodeOutcomes(record).map((outcome) => ('event_id' in outcome ? outcome.event_id : ''));

test('in one step many outcomes share a record, and a dead letter has its own', () => {
  const records = outcomeRecordsOf(all, { ...settings, together: true });
  expect(records.map((record) => [record.id, idsIn(record).length])).toEqual([
    ['p:pl_1:e0', 32],
    ['p:pl_1:bad', 1],
    ['p:pl_1:e32', 32],
    ['p:pl_1:f24', 6],
  ]);
  expect(records.flatMap(idsIn).sort()).toEqual(all.map(({ record }) => record.event.event_id).sort());
  expect(decodeOutcomes(records[0]!)[1]).toMatchObject({ kind: 'processed', event_id: 'e1', stored: '0000000000000007' });
  expect(decodeOutcomes(records[0]!)[3]).toMatchObject({ kind: 'dropped', reason: 'bot' });
});

test('without a transaction each outcome has its own record id, so that repeats are deduplicated', () => {
  const records = outcomeRecordsOf(all, { ...settings, together: false });
  expect(records.map((record) => [record.id, ...idsIn(record)])).toEqual(
    all.map(({ record }) => [`p:pl_1:${record.event.event_id}`, record.event.event_id]),
  );
});

test('an outcome tells of names that user code made very long only what a trace stores', () => {
  const one = finished('e1', 'processed');
  const long = 'é'.repeat(500_000);
  Object.assign(one.result.event, { event: long, user_id: long, anonymous_id: long });
  const [record] = outcomeRecordsOf([one], { ...settings, together: false });
  expect(record?.data.length).toBeLessThan(10_000);
  expect(decodeOutcomes(record!)).toMatchObject([{ event: storedName(long), user_id: storedId(long), anonymous_id: storedId(long) }]);
});

test('a replay is told, except of an event that ingest rejected: that one was never counted', () => {
  const replayOf = (id: string, kind: Processed['kind']) => {
    const { record, result } = finished('again', kind);
    const delivery = { record: { ...record.delivery.record, id } } as Delivery;
    const replayed = { record: { ...record, id: `${record.id}#dlq_1`, delivery }, result };
    const [outcome] = outcomeRecordsOf([replayed], { ...settings, together: true }).flatMap(decodeOutcomes);
    return outcome;
  };
  for (const kind of ['processed', 'dropped', 'failed'] as const) {
    expect(replayOf('pl_1:again#dlq_1', kind)).toMatchObject({ again: true, replay: true });
    expect(replayOf('pl_1:again', kind)).toMatchObject({ again: true });
    expect(replayOf('pl_1:again', kind)).not.toHaveProperty('replay');
  }
});
