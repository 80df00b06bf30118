import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import pino from 'pino';
import { expect, test } from 'vitest';
import { decodeOutcomes } from '../../outcomes/outcome-log.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { type Append, LogUnavailable, RecordTooLarge } from '../../stores/event-log/port.ts';
import { keepRejectedEvents } from './rejected-events.ts';
import { RetriedAppends } from './retried-appends.ts';

/** Takes at most a megabyte in a record, like NATS. */
function smallLog() {
  const stored: Append[] = [];
  const log = {
    atomic: false,
    isAway: false,
    async append(appends: Append[]) {
      if (log.isAway) throw new LogUnavailable('away');
      for (const { records } of appends)
        for (const { data } of records) if (data.length > 1_000_000) throw new RecordTooLarge(`${data.length} bytes`);
      stored.push(...appends);
      return appends.map(({ records }) => ({ positions: records.map(() => '1') }));
    },
  };
  return { log, stored };
}
const append = (id: string, bytes: number): Append => ({ topic: 'outcomes.1', records: [{ id, data: Buffer.alloc(bytes) }] });

test('an append that the log can never store does not hold up the others, and others wait while it is away', async () => {
  const { log, stored } = smallLog();
  const appends = new RetriedAppends(log);
  for (const one of [append('a', 1), append('large', 2_000_000), append('b', 1)]) appends.push(one);
  await expect(appends.write()).rejects.toThrow(RecordTooLarge);
  expect([appends.waiting, stored.map(({ records }) => records[0]?.id)]).toEqual([0, ['a', 'b']]);
  log.isAway = true;
  appends.push(append('c', 1));
  await expect(appends.write()).rejects.toThrow(LogUnavailable);
  log.isAway = false;
  await appends.write();
  expect(stored.map(({ records }) => records[0]?.id)).toEqual(['a', 'b', 'c']);
});

// They were in one record of 15 MB. No rejected event of any pipeline was kept any more.
test('the rejected events of a batch with a long context are kept, in records that the log takes', async () => {
  const { log, stored } = smallLog();
  const settings = { log, clock: systemClock, logger: pino({ level: 'silent' }), retentionMs: 1_000 };
  const rejected = keepRejectedEvents(settings);
  const request = { source: 'server', context: { note: 'x'.repeat(30_000) } } as const;
  const rules = { orgId: 'org_1', pipelineId: 'pl_1' } as IngestRules;
  const rejection = { code: 'missing_field', message: 'event is required.' } as const;
  for (let i = 0; i < 500; i++) {
    const bytes = Buffer.from(`{"type":"track","messageId":"${i}"}`);
    rejected.keep({ rules, rejection, eventId: `${i}`, bytes, impliedType: undefined, request, receivedAt: 1 });
  }
  await rejected.stop();
  const kept = stored.flatMap(({ records }) => records.flatMap((record) => decodeOutcomes(record))) as Extract<
    Outcome,
    { kind: 'rejected_events' }
  >[];
  expect(kept.flatMap(({ letters }) => letters.map(({ event_id }) => event_id))).toEqual(Array.from({ length: 500 }, (_, i) => `${i}`));
  for (const { records } of stored) expect(records[0]?.data.length).toBeLessThan(300_000);
});
