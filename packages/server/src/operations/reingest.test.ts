import { canonicalise } from '@firsthand/core/event/canonicalise.ts';
import { decodeEnvelope } from '@firsthand/core/event/envelope.ts';
import { expect, test } from 'vitest';
import type { Snapshot } from '../snapshot/types.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import type { StoredDeadLetter } from '../stores/observe/dead-letters.ts';
import { reingest } from './reingest.ts';

test('a screen whose raw record has aged out is still a screen after its replay', async () => {
  const event = {
    event_id: 'e1',
    type: 'page' as const,
    original_type: 'screen' as const,
    name: 'Cart',
    anonymous_id: 'v1',
    timestamp: '2026-01-01T00:00:00.000Z',
    context: {},
    integrations: { All: false },
  };
  const letter = {
    id: 'dlq_1',
    org_id: 'org_1',
    pipeline_id: 'pl_1',
    event_id: 'e1',
    stage: 'processing',
    created_at: event.timestamp,
    event,
  };
  const pipelines = new Map([['pl_1', { ingest: { partitions: { topicOf: () => 'ingest.0' } } }]]);
  const snapshot = () => ({ pipelines }) as unknown as Snapshot;
  const deps = { log: {} as EventLog, snapshot, ingestUrl: undefined, digestSecret: () => '' };
  const [append] = await reingest(deps, letter as unknown as StoredDeadLetter, 'r1');
  const { envelope, body } = decodeEnvelope(append!.records[0]!.data);
  expect(canonicalise(envelope, body)).toEqual(event);
});
