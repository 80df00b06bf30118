/** Releases before record batches kept one record per message, in streams of other names, with a consumer per group. */
import type { JetStreamApi } from './api.ts';
import { CANARY_STREAM } from './names.ts';

const EARLIER = /^firsthand-/;

interface Group {
  num_pending: number;
  num_ack_pending: number;
}

export interface EarlierLayout {
  streams: string[];
  /** Records that a group has not settled. */
  waiting: number;
}
export async function readEarlierLayout(api: JetStreamApi): Promise<EarlierLayout> {
  const streams = (await pages<string>(api, 'STREAM.NAMES', 'streams')).filter((name) => EARLIER.test(name) && name !== CANARY_STREAM);
  let waiting = 0;
  for (const stream of streams)
    for (const group of await pages<Group | null>(api, `CONSUMER.LIST.${stream}`, 'consumers'))
      waiting += (group?.num_pending ?? 0) + (group?.num_ack_pending ?? 0);
  return { streams, waiting };
}

/**
 * Throws where records of the earlier layout are not settled by every group: only the release that stored them can. Streams whose records are
 * all settled are left alone, for the operator to delete.
 */
export async function checkEarlierLayout(api: JetStreamApi, onWarning: ((message: string) => void) | undefined): Promise<void> {
  const { streams, waiting } = await readEarlierLayout(api);
  if (waiting > 0)
    throw new Error(
      `NATS holds ${waiting} records that an earlier release has not processed or delivered. Run that release until they are, see docs/guides/operations/upgrade.md`,
    );
  if (streams.length > 0) onWarning?.(`streams of an earlier release are no longer used and can be deleted: ${streams.join(', ')}`);
}

async function pages<T>(api: JetStreamApi, operation: string, field: 'streams' | 'consumers'): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const page = await api.call<{ total: number } & Partial<Record<typeof field, T[] | null>>>(operation, { offset: found.length });
    found.push(...(page[field] ?? []));
    if (found.length >= page.total || !page[field]?.length) return found;
  }
}
