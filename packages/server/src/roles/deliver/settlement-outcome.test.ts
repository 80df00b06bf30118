import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeEventRecord, openEventRecord } from '../../event-record.ts';
import type { HeldEvent, Settlement } from './settlement.ts';
import { deadLetterBytes, eventJsonOf, outcomeOf, outcomeText } from './settlement-outcome.ts';

test('the text of an outcome is its JSON, also of outcomes that follow each other', () => {
  const id = fc.oneof(fc.constantFrom('a', 'b:1', '"', '\\', ''), fc.string({ unit: 'binary', maxLength: 4 }));
  const one = fc.record({
    event_id: id,
    org_id: fc.constantFrom('org_1', 'org_2'),
    integration_id: fc.constantFrom('int_1', 'int_"2'),
    revision_number: fc.constantFrom(1, 12),
    untraced: fc.boolean(),
    replay: fc.boolean(),
    attempt: fc.constantFrom(1, 2),
    at: fc.constantFrom(1_700_000_000_000, 1_700_000_000_001),
    settlement: fc.constantFrom<Settlement>(
      { kind: 'delivered', attempt: { at: '2026-01-01T00:00:00.000Z', status: null, error: null, duration_ms: 5 } },
      { kind: 'delivered', attempt: { at: '2026-01-01T00:00:00.000Z', status: 200, error: 'already "stored"', duration_ms: 5 } },
      { kind: 'dropped', reason: 'event_filtered' },
    ),
  });
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 5 }), (list) => {
      for (const { event_id, org_id, integration_id, revision_number, untraced, replay, attempt, at, settlement } of list) {
        const event = { event_id, type: 'track', timestamp: 't', context: {} } as const;
        const meta = { received_at: 1_700_000_000_000, org_id, pipeline_id: 'pl_1', ...(untraced ? { untraced } : {}) };
        const held = {
          decoded: openEventRecord(encodeEventRecord(meta, event)),
          delivery: { attempt },
          compiled: { integration: { id: integration_id, revision_number } },
          replay,
        } as unknown as HeldEvent;
        const text = outcomeText(held, settlement, at, 1_000) ?? '';
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(outcomeOf(held, settlement, at, 1_000))));
        expect(JSON.parse(text)).toMatchObject({ integration_id, revision_number });
      }
    }),
  );
});

test('names of any length and type are told as traces store them', () => {
  const long = 'é'.repeat(500_000);
  const meta = { received_at: 1_700_000_000_000, org_id: 'org_1', pipeline_id: 'pl_1' };
  const toldOf = (names: object) => {
    const event = { event_id: 'e1', type: 'track', timestamp: 't', context: {}, ...names } as unknown as CanonicalEvent;
    const held = {
      decoded: openEventRecord(encodeEventRecord(meta, event)),
      delivery: { attempt: 1 },
      compiled: { integration: { id: 'int_1', revision_number: 1 } },
      replay: false,
    } as unknown as HeldEvent;
    return outcomeText(held, { kind: 'dropped', reason: 'event_filtered' }, 1, 1) ?? '';
  };
  expect(toldOf({ event: long, user_id: long, anonymous_id: long }).length).toBeLessThan(6_000);
  expect(JSON.parse(toldOf({ event: 7, user_id: 8 }))).toMatchObject({ event: '7', user_id: '8' });
});

test('the bytes of a dead letter and of its outcome are their JSON, whatever the event', () => {
  const settlement: Settlement = { kind: 'dead_letter', stage: 'delivery', reason: 'a "reason"', attempts: [] };
  const meta = { received_at: 1_700_000_000_000, org_id: 'org_1', pipeline_id: 'pl_1' };
  const check = (bytes: Uint8Array) => {
    const held = {
      decoded: openEventRecord(bytes),
      delivery: { attempt: 1 },
      compiled: { integration: { id: 'int_1', vendor: 'webhook', revision_number: 1 } },
      replay: false,
    } as unknown as HeldEvent;
    const outcome = outcomeOf(held, settlement, 1_700_000_000_001, 1_000);
    if (outcome?.kind !== 'dead_lettered') throw new Error('no dead letter');
    const { letter, outcomes } = deadLetterBytes(outcome, eventJsonOf(held));
    expect(JSON.parse(letter.toString())).toEqual(JSON.parse(JSON.stringify(outcome.dead_letter)));
    expect(JSON.parse(outcomes.toString())).toEqual(JSON.parse(JSON.stringify([outcome])));
  };
  const properties = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { noNullPrototype: true });
  fc.assert(
    fc.property(properties, fc.string({ unit: 'binary' }), (given, event_id) => {
      const event = { event_id, type: 'track', timestamp: 't', context: {}, properties: given } as unknown as CanonicalEvent;
      check(encodeEventRecord(meta, event));
    }),
  );
  const whole = Buffer.from(encodeEventRecord(meta, { event_id: 'e1', type: 'track', timestamp: 't', context: {} }));
  whole[whole.length - 3] = 0;
  check(whole);
});
