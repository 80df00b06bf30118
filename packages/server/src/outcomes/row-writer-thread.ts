/**
 * The thread in which outcomes become rows. SQLite's writes block, and many of them in a row would be felt by every request
 * and every delivery of the process; here they are felt by nobody.
 */
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { sweepRows } from '../stores/observe/sweep.ts';
import { OBSERVE_FILE } from '../stores/observe/tables.ts';
import { readPosition, writeTally } from '../stores/observe/write.ts';
import type { Writer } from '../stores/observe/writer.ts';
import { decodeOutcomes } from './outcome-log.ts';
import type { PackedRecords, Recorded, RowStore, RowWriterNotice, RowWriterReply, RowWriterRequest } from './row-writer-messages.ts';
import { tally } from './tally.ts';

const BEHIND_OTHERS = 10;

/** The thread's whole life: answers what comes over the port, one after the other, for all of it shares one connection. */
export async function keep(port: MessagePort, store: RowStore): Promise<void> {
  // Linux knows priorities of threads: what is shown later may wait for what is answered and delivered now.
  if (process.platform === 'linux') setPriority(BEHIND_OTHERS);
  const writer = await openWriter(store, (reason) => port.postMessage({ connection_lost: reason } satisfies RowWriterNotice));
  let last: Promise<void> = Promise.resolve();
  port.on('message', (request: RowWriterRequest) => {
    last = last.then(async () => port.postMessage(await answer(writer, request)));
  });
}

/** What only one engine needs is loaded only there: a thread shares no code with the process. */
async function openWriter({ databaseUrl, dataDir }: RowStore, onConnectionLost: (reason: string) => void): Promise<Writer> {
  if (databaseUrl === undefined) {
    const { openSqliteWriter } = await import('../stores/observe/sqlite-writer.ts');
    return openSqliteWriter(join(dataDir, OBSERVE_FILE));
  }
  const [{ connectObserve }, { kyselyWriter }] = await Promise.all([
    import('../stores/observe/open.ts'),
    import('../stores/observe/kysely-writer.ts'),
  ]);
  return kyselyWriter(await connectObserve({ databaseUrl, dataDir, onConnectionError: (error) => onConnectionLost(error.message) }));
}

async function answer(writer: Writer, request: RowWriterRequest): Promise<RowWriterReply> {
  const { id } = request;
  try {
    return request.kind === 'record'
      ? { id, ...(await record(writer, request.records)) }
      : { id, removed: await sweepRows(writer, request.ages) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

async function record(writer: Writer, { positions, lengths, bytes }: PackedRecords): Promise<Recorded> {
  const written = await readPosition(writer);
  const fresh: Outcome[] = [];
  const unreadable: string[] = [];
  let at = 0;
  for (const [i, length] of lengths.entries()) {
    const position = positions[i]!;
    const outcomes = position > written ? read(bytes.subarray(at, at + length)) : [];
    if (outcomes === undefined) unreadable.push(position);
    else fresh.push(...outcomes);
    at += length;
  }
  const counted: Record<string, number> = {};
  if (fresh.length === 0) return { counted, unreadable };
  const rows = tally(fresh);
  await writeTally(writer, rows, positions.at(-1)!);
  for (const { counter, n } of rows.counters) if (!counter.startsWith('latency:')) counted[counter] = (counted[counter] ?? 0) + n;
  return { counted, unreadable };
}

function read(data: Uint8Array): Outcome[] | undefined {
  try {
    return decodeOutcomes({ data });
  } catch {
    return undefined;
  }
}
