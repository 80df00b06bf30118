import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumeOptions } from '../port.ts';
import type { CursorState } from './cursor.ts';
import type { DirectGet } from './direct-get.ts';
import type { Place } from './names.ts';

const STALE_MS = 20;

/** Where a new group begins. */
export async function startOf(
  start: ConsumeOptions['start'],
  { stream, subject }: Place,
  direct: DirectGet,
): Promise<Omit<CursorState, 'owner'>> {
  if (start === 'beginning') return { high: 0, open: [] };
  const since = start.getTime();
  for (;;) {
    const { messages } = await direct.batch(stream, { start_time: start.toISOString(), next_by_subj: subject, batch: 1 });
    const [first] = messages;
    if (first) return { high: first.seq - 1, open: [], since };
    const last = await direct.leaderGet(stream, { last_by_subj: subject });
    if (last === undefined || last.time < since) return { high: last?.seq ?? 0, open: [], since };
    // A replica that lags does not know that message yet.
    await sleep(STALE_MS);
  }
}
