import { expect, test } from 'vitest';
import type { StoredDeadLetter } from '../stores/observe/dead-letters.ts';
import { type ReplayDeps, replayLetters } from './replay.ts';

test('a dead letter without its event is not replayed: the vendor would get an empty event', async () => {
  const deps = { latestRevision: async () => 1 } as unknown as ReplayDeps;
  const letter = {
    id: 'dlq_1',
    org_id: 'org_1',
    pipeline_id: 'pl_1',
    integration_id: 'int_1',
    event_id: 'e1',
    status: 'pending',
    created_at: '2026-01-01T00:00:00.000Z',
  };
  const head = { event_id: 'e1', type: 'track', timestamp: 't' };
  const replayed = (event: object) => replayLetters(deps, [{ ...letter, event } as unknown as StoredDeadLetter], { dry_run: true });
  expect(await replayed({ ...head, truncated: true })).toBe(0);
  expect(await replayed({ ...head, context: {}, truncated: true })).toBe(1);
  expect(await replayed({ ...head, context: {} })).toBe(1);
});
