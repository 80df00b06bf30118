import { expect, test } from 'vitest';
import type { Sent } from '../../transports/port.ts';
import type { Batch } from './batcher.ts';
import { conclude } from './conclude.ts';
import { type Job, openParts } from './job.ts';

const rules = { integrationId: 'int_1', retryBaseMs: 1_000, random: 0, keepAnswer: false };
const long = `"${'t'.repeat(1_000_000)}" is not a topic name`;

// The reason stands in the dead letter and in its attempt: NATS refused both, with and without the event, and the event was never settled.
test.each([
  ['refused', { kind: 'refused', reason: long }],
  ['unavailable', { kind: 'unavailable', reason: long }],
  ['partial', { kind: 'partial', items: [{ kind: 'refused', reason: long }] }],
] as const)('a long reason of a driver is cut: %s', (_name, verdict) => {
  const vendor = { batch: null, max_retries: 0 };
  const compiled = { integration: { revision_number: 1 } };
  const job = { items: [{ size: 1 }], attempts: [], done: [], verdict: { kind: 'delivered' }, vendor, compiled } as unknown as Job;
  const batch = { parts: openParts(job), vendor, compiled, attempt: 1, bytes: 1, job: undefined } as unknown as Batch;
  const sent = { verdict, status: null, at: 0, duration_ms: 1 } as Sent;
  const { settled, error } = conclude(batch, sent, rules);
  const reason = long.slice(0, 1_000);
  expect(settled.map(({ settlement }) => settlement)).toMatchObject([{ kind: 'dead_letter', reason, attempts: [{ error: reason }] }]);
  expect(error).toBe(reason);
});
