/** The thread that writes outcomes as rows. SQLite's calls block their thread: here they delay no request and no delivery. */
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { removeLettersOf } from '../stores/observe/erase-traces.ts';
import { sweepRows } from '../stores/observe/sweep.ts';
import { OBSERVE_FILE } from '../stores/observe/tables.ts';
import { readPosition, writeTally } from '../stores/observe/write.ts';
import type { Writer } from '../stores/observe/writer.ts';
import type { EncodedSpan } from '../telemetry/otlp.ts';
import { decodeOutcomes } from './outcome-log.ts';
import type { Recorded, RowStore, RowWriterNotice, RowWriterReply, RowWriterRequest, RowWriterSettings } from './row-writer-messages.ts';
import { tally } from './tally.ts';

/** Entry of the thread. Requests are answered one at a time, because they share one connection. */
export async function keep(port: MessagePort, { spanRatio, ...store }: RowWriterSettings): Promise<void> {
  const writer = await openWriter(store, (reason) => port.postMessage({ connection_lost: reason } satisfies RowWriterNotice));
  const spansOf = spanRatio === undefined ? () => [] : await spanEncoder(spanRatio);
  let last: Promise<void> = Promise.resolve();
  port.on('message', (request: RowWriterRequest) => {
    last = last.then(async () => port.postMessage(await answer(writer, spansOf, request)));
  });
}

/** Loads only the engine in use: a thread shares no loaded code with the process. */
async function openWriter({ databaseUrl, dataDir }: RowStore, onConnectionLost: (reason: string) => void): Promise<Writer> {
  if (databaseUrl === undefined) {
    const { openSqliteWriter } = await import('../stores/observe/sqlite-writer.ts');
    return openSqliteWriter(join(dataDir, OBSERVE_FILE));
  }
  const [{ connectObserve }, { kyselyWriter }] = await Promise.all([
    import('../stores/observe/open.ts'),
    import('../stores/observe/kysely-writer.ts'),
  ]);
  return kyselyWriter(connectObserve({ databaseUrl, dataDir, onConnectionError: (error) => onConnectionLost(error.message) }));
}

type SpansOf = (outcomes: readonly Outcome[]) => EncodedSpan[];

/** Spans are made here because the outcomes are decoded here. */
async function spanEncoder(ratio: number): Promise<SpansOf> {
  const [{ eventSpans }, { encodeSpan }] = await Promise.all([import('../telemetry/event-spans.ts'), import('../telemetry/otlp.ts')]);
  return (outcomes) => eventSpans(outcomes, ratio).map(encodeSpan);
}

async function answer(writer: Writer, spansOf: SpansOf, request: RowWriterRequest): Promise<RowWriterReply> {
  const { id } = request;
  try {
    switch (request.kind) {
      case 'record':
        return { id, ...(await record(writer, spansOf, request)) };
      case 'position':
        return { id, position: await readPosition(writer, request.topic) };
      case 'letters':
        return { id, letters: await removeLettersOf(writer, request.events) };
      case 'sweep':
        return { id, ...(await sweepRows(writer, request.ages, request.queued)) };
    }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

type RecordRequest = Extract<RowWriterRequest, { kind: 'record' }>;

async function record(writer: Writer, spansOf: SpansOf, request: RecordRequest): Promise<Recorded> {
  for (;;) {
    const after = request.anew ? undefined : await readPosition(writer, request.topic);
    const recorded = await recordAfter(writer, spansOf, request, after);
    if (recorded !== undefined) return recorded;
  }
}
/** `after`: undefined writes all. Returns undefined if another process has recorded meanwhile: read the position again. */
async function recordAfter(
  writer: Writer,
  spansOf: SpansOf,
  { topic, records: { entries, bytes } }: RecordRequest,
  after: string | undefined,
): Promise<Recorded | undefined> {
  const fresh: Outcome[] = [];
  const unreadable: string[] = [];
  let at = 0;
  for (const { position, length } of entries) {
    const outcomes = after === undefined || position > after ? read(bytes.subarray(at, at + length)) : [];
    if (outcomes === undefined) unreadable.push(position);
    else fresh.push(...outcomes);
    at += length;
  }
  const counted: Record<string, number> = {};
  const last = entries.at(-1);
  if (fresh.length === 0 || last === undefined) return { counted, unreadable, spans: [] };
  const rows = tally(fresh);
  if (!(await writeTally(writer, rows, last.position, topic, after))) return undefined;
  for (const { counter, n } of rows.counters) if (!NO_METRIC.test(counter)) counted[counter] = (counted[counter] ?? 0) + n;
  return { counted, unreadable, spans: spansOf(fresh) };
}

/** Counters of statistics only. */
const NO_METRIC = /^(?:latency|source):/;

function read(data: Uint8Array): Outcome[] | undefined {
  try {
    return decodeOutcomes({ data });
  } catch {
    return undefined;
  }
}
