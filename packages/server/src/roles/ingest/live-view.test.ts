import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { compileOrganisation } from '@firsthand/core/process/compiled.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { AT_ONCE_BYTES } from '../../intake/parse-batch.ts';
import { createLogger } from '../../runtime/logger.ts';
import { turns } from '../../runtime/turns.ts';
import type { Snapshot } from '../../snapshot/types.ts';
import type { TapFrame } from '../../tap/port.ts';
import { MOST_WAITING_BYTES, type Received, showReceived } from './live-view.ts';

const pii_rules = { ...DEFAULT_DATA_LAYER.pii_rules, fields: [{ path: 'properties.secret', action: 'redact' as const }] };
const { organisation } = compileOrganisation({ ...DEFAULT_DATA_LAYER, pii_rules }, 'org_1', {});
const RULES = { orgId: 'org_1', pipelineId: 'pl_1' };

function watch() {
  const frames: TapFrame[] = [];
  const snapshot = { organisations: new Map([['org_1', organisation]]) } as unknown as Snapshot; // what is read of it
  const ctx = {
    snapshots: { current: () => snapshot, onChange: () => () => undefined },
    tap: { watched: () => true, emit: (_orgId: string, frame: TapFrame) => void frames.push(frame) },
    logger: createLogger('silent'),
  };
  const show = (...received: Received[]) => showReceived(ctx, RULES, received);
  return { frames, show };
}
const received = (eventId: string, bytes = 100): Received => ({
  event: { type: 'track', event: 'Order', properties: { secret: 's' } },
  record: { eventId, record: { id: eventId, data: new Uint8Array(bytes) } },
});
const payload = { type: 'track', event: 'Order', properties: { secret: '[redacted]' } };

test('events of a batch are looked through in turns: a batch of 5 MB held the loop while somebody watched', async () => {
  const turn = Promise.withResolvers<void>();
  const bulk = vi.spyOn(turns, 'bulk').mockReturnValueOnce(turn.promise);
  onTestFinished(() => bulk.mockRestore());
  const { frames, show } = watch();
  show(received('e1', AT_ONCE_BYTES), received('e2', AT_ONCE_BYTES));
  expect(frames).toEqual([]);
  turn.resolve();
  await expect.poll(() => frames.map(({ event_id }) => event_id)).toEqual(['e1', 'e2']);
  expect(frames[0]).toEqual({ stage: 'received', pipeline_id: 'pl_1', event_id: 'e1', type: 'track', event: 'Order', payload });
});

test('what waits to be shown is bounded: more is shown without its payload', async () => {
  const turn = Promise.withResolvers<void>();
  const bulk = vi.spyOn(turns, 'bulk').mockReturnValueOnce(turn.promise);
  onTestFinished(() => bulk.mockRestore());
  const { frames, show } = watch();
  show(received('waits', MOST_WAITING_BYTES));
  show(received('beyond'));
  await expect.poll(() => frames).toHaveLength(1);
  expect(frames[0]).toMatchObject({ event_id: 'beyond', event: 'Order', payload: null });
  turn.resolve();
  await expect.poll(() => frames).toHaveLength(2);
  show(received('later'));
  await expect.poll(() => frames.at(-1)).toMatchObject({ event_id: 'later', payload });
});
