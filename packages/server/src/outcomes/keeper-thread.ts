/**
 * The thread in which outcomes become rows. SQLite's writes block, and many of them in a row would be felt by every request
 * and every delivery of the process; here they are felt by nobody.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { connectObserve } from '../stores/observe/open.ts';
import { sweepRows } from '../stores/observe/sweep.ts';
import { readPosition, writeTally } from '../stores/observe/write.ts';
import type { KeeperNotice, KeeperReply, KeeperRequest, KeeperStore, PackedRecords, Recorded } from './keeper-protocol.ts';
import { tally } from './tally.ts';

const observe = await connectObserve({
  ...(workerData as KeeperStore),
  onConnectionError: (error) => parentPort!.postMessage({ connection_lost: error.message } satisfies KeeperNotice),
});

async function record({ positions, lengths, bytes }: PackedRecords): Promise<Recorded> {
  const written = await readPosition(observe);
  const buffer = Buffer.from(bytes.buffer);
  const fresh: Outcome[] = [];
  const unreadable: string[] = [];
  let at = 0;
  for (const [i, length] of lengths.entries()) {
    const position = positions[i]!;
    const outcomes = position > written ? read(buffer.toString('utf8', at, at + length)) : [];
    if (outcomes === undefined) unreadable.push(position);
    else fresh.push(...outcomes);
    at += length;
  }
  const counted: Record<string, number> = {};
  if (fresh.length === 0) return { counted, unreadable };
  const rows = tally(fresh);
  await writeTally(observe, rows, positions.at(-1)!);
  for (const { counter, n } of rows.counters) if (!counter.startsWith('latency:')) counted[counter] = (counted[counter] ?? 0) + n;
  return { counted, unreadable };
}
function read(json: string): Outcome[] | undefined {
  try {
    return JSON.parse(json) as Outcome[];
  } catch {
    return undefined;
  }
}

async function answer(request: KeeperRequest): Promise<KeeperReply> {
  const { id } = request;
  try {
    return request.kind === 'record' ? { id, ...(await record(request.records)) } : { id, removed: await sweepRows(observe, request.ages) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

parentPort!.on('message', (request: KeeperRequest) => {
  void answer(request).then((reply) => parentPort!.postMessage(reply));
});
