import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { encodeEventRecord, eventRecordId, eventsTopic } from '../../../event-record.ts';
import { openLmdbLog } from '../../../stores/event-log/lmdb.ts';

export const PIPELINE = 'pl_1';
const PER_APPEND = 2_000;

/** Fills a log with events, so that a delivering process has nothing to do but to deliver. */
export async function fillBacklog(folder: string, events: number, eventAt: (index: number) => CanonicalEvent): Promise<void> {
  const log = await openLmdbLog({ path: folder, dedupWindowMs: 60_000 });
  for (let from = 0; from < events; from += PER_APPEND) {
    const records = Array.from({ length: Math.min(PER_APPEND, events - from) }, (_, i) => {
      const event = eventAt(from + i);
      const meta = { received_at: Date.now(), org_id: 'org_1', pipeline_id: PIPELINE };
      return { id: eventRecordId(PIPELINE, event.event_id), data: encodeEventRecord(meta, event) };
    });
    await log.append([{ topic: eventsTopic(PIPELINE), records }]);
  }
  await log.close();
}
