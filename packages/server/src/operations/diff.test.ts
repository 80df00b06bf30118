import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { Steps } from '@firsthand/core/steps.ts';
import { expect, test } from 'vitest';
import { encodeEventRecord } from '../event-record.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import { diffRevisions } from './diff.ts';
import type { Rehearsal } from './rehearse.ts';

test('examples are at most 2 MB together: ten of 32 MB each filled the memory', async () => {
  const event: CanonicalEvent = { event_id: 'e1', type: 'page', timestamp: '2026-01-01T00:00:00.000Z', context: {} };
  const data = encodeEventRecord({ received_at: Date.parse(event.timestamp), org_id: 'org_1', pipeline_id: 'pl_1' }, event);
  const log: Pick<EventLog, 'read'> = {
    async *read() {
      for (let n = 0; n < 20; n++) yield { id: 'r1', data, time: 0, seq: n } as never;
    },
  };
  const rehearse = (body: string) =>
    function* (): Steps<Rehearsal> {
      yield;
      const requests = [{ method: 'POST', url: 'https://hooks.example/in', headers: {}, body }];
      return { requests, dropped: null, failed: null, warnings: [] };
    };
  const large = await diffRevisions(log as EventLog, 'pl_1', 10, 0, rehearse('x'.repeat(300_000)), rehearse('y'.repeat(300_000)));
  expect([large.compared, large.changed, large.examples.length]).toEqual([20, 20, 3]);
  const small = await diffRevisions(log as EventLog, 'pl_1', 10, 0, rehearse('x'), rehearse('y'));
  expect([small.compared, small.changed, small.examples.length]).toEqual([20, 20, 10]);
});

test('a large event leaves the loop to others between the two revisions: together they held it for 150 ms', async () => {
  const context = { text: 'x'.repeat(200_000) };
  const event: CanonicalEvent = { event_id: 'e1', type: 'page', timestamp: '2026-01-01T00:00:00.000Z', context };
  const data = encodeEventRecord({ received_at: Date.parse(event.timestamp), org_id: 'org_1', pipeline_id: 'pl_1' }, event);
  const log: Pick<EventLog, 'read'> = {
    async *read() {
      yield { id: 'r1', data, time: 0, seq: 1 } as never;
    },
  };
  const seen: string[] = [];
  const timer = setInterval(() => seen.push('another'), 0);
  const rehearse = (name: string) =>
    function* (): Steps<Rehearsal> {
      yield;
      seen.push(name);
      // Longer than the timer.
      for (const end = performance.now() + 3; performance.now() < end; );
      return { requests: [], dropped: null, failed: { reason: name }, warnings: [] };
    };
  const diff = await diffRevisions(log as EventLog, 'pl_1', 10, 0, rehearse('from'), rehearse('to'));
  clearInterval(timer);
  expect(diff).toMatchObject({ compared: 1, changed: 1, dropped_by_to: 0 });
  expect(seen.slice(seen.indexOf('from'), seen.indexOf('to'))).toContain('another');
});
