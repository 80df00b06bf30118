/** The thread that writes outcomes as rows. SQLite's calls block their thread: here they delay no request and no delivery. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { errorText } from '../runtime/error-text.ts';
import { sentError } from '../runtime/sent-error.ts';
import { removeLettersOf } from '../stores/observe/erase-traces.ts';
import type { Tally } from '../stores/observe/rows.ts';
import { sweepRows } from '../stores/observe/sweep.ts';
import { OBSERVE_FILE } from '../stores/observe/tables.ts';
import { isOfRows, type Move, readPosition, refusalOf, writeTally, writeTogether } from '../stores/observe/write.ts';
import type { Writer } from '../stores/observe/writer.ts';
import type { EncodedSpan } from '../telemetry/otlp.ts';
import { decodeOutcomes } from './outcome-log.ts';
import type {
  PackedRecords,
  Recorded,
  RowStore,
  RowWriterNotice,
  RowWriterReply,
  RowWriterRequest,
  RowWriterSettings,
} from './row-writer-messages.ts';
import { tally } from './tally.ts';

/** The recorder asks for its topics within a few milliseconds. */
const GATHER_MS = 5;
/** Of the records that one transaction writes. */
const MOST_BYTES = 4 * 1_048_576;
/** Of the records whose rows are in memory at once, on SQLite: what a whole transaction keeps would outlive the young generation. */
const PIECE_BYTES = 262_144;

/** Requests are answered one at a time, because they share one connection; records of several topics together. */
export async function start(port: MessagePort, { spanRatio, ...store }: RowWriterSettings): Promise<void> {
  const writer = await openWriter(store, (error) => port.postMessage({ connection_lost: sentError(error) } satisfies RowWriterNotice));
  const spansOf = spanRatio === undefined ? () => [] : await spanEncoder(spanRatio);
  const waiting: RowWriterRequest[] = [];
  let working = false;
  async function work(): Promise<void> {
    working = true;
    // SQLite has one topic.
    if (writer.engine === 'postgres') await sleep(GATHER_MS);
    while (waiting.length > 0) {
      const together = takeTogether(waiting);
      for (const reply of await recordTogether(writer, spansOf, together)) port.postMessage(reply);
      const next = together.length === 0 ? waiting.shift() : undefined;
      if (next) port.postMessage(await answer(writer, spansOf, next));
      // Up to 4 MB, which would wait for a full garbage collection.
      for (const done of next ? [next] : together) if (done.kind === 'record') done.records.bytes.buffer.transfer(0);
    }
    working = false;
  }
  port.on('message', (request: RowWriterRequest) => {
    waiting.push(request);
    if (!working) void work();
  });
}

/** Loads only the engine in use: a thread shares no loaded code with the process. */
async function openWriter({ databaseUrl, dataDir }: RowStore, onConnectionLost: (error: Error) => void): Promise<Writer> {
  if (databaseUrl === undefined) {
    const { openSqliteWriter } = await import('../stores/observe/sqlite-writer.ts');
    return openSqliteWriter(join(dataDir, OBSERVE_FILE));
  }
  const [{ connectObserve }, { kyselyWriter }] = await Promise.all([
    import('../stores/observe/open.ts'),
    import('../stores/observe/kysely-writer.ts'),
  ]);
  return kyselyWriter(connectObserve({ databaseUrl, dataDir, onConnectionError: onConnectionLost }));
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
    return { id, error: sentError(error) };
  }
}

type RecordRequest = Extract<RowWriterRequest, { kind: 'record' }>;

/** Removes requests from the front that can share a transaction: records of several topics. Empty if there is no second one. */
export function takeTogether(waiting: RowWriterRequest[]): RecordRequest[] {
  const topics = new Set<string>();
  const found: RecordRequest[] = [];
  let bytes = 0;
  for (const request of waiting) {
    if (request.kind !== 'record' || request.anew || topics.has(request.topic)) break;
    bytes += request.records.bytes.length;
    if (bytes > MOST_BYTES) break;
    topics.add(request.topic);
    found.push(request);
  }
  if (found.length < 2) return [];
  waiting.splice(0, found.length);
  return found;
}

/** One by one if they cannot be written together: only the topic that is the reason must wait. */
async function recordTogether(writer: Writer, spansOf: SpansOf, requests: readonly RecordRequest[]): Promise<RowWriterReply[]> {
  if (requests.length === 0) return [];
  const written = await writeAll(writer, spansOf, requests).catch(() => undefined);
  if (written !== undefined) return written;
  const replies: RowWriterReply[] = [];
  for (const request of requests) replies.push(await answer(writer, spansOf, request));
  return replies;
}
/** All counts are in the first reply. Undefined, and nothing is written, if a topic is new or another process has recorded it. */
async function writeAll(writer: Writer, spansOf: SpansOf, requests: readonly RecordRequest[]): Promise<RowWriterReply[] | undefined> {
  const topics: { topic: string; after: string; records: PackedRecords; reply: Recorded & { id: number } }[] = [];
  for (const { id, topic, records } of requests) {
    const after = positions.get(topic) ?? (await readPosition(writer, topic));
    if (after === '') return undefined;
    topics.push({ topic, after, records, reply: { id, counted: {}, unreadable: [], spans: [] } });
  }
  const moves: Move[] = [];
  function* fresh(): Iterable<Outcome> {
    for (const { topic, after, records, reply } of topics) {
      let isNew = false;
      for (const outcome of readAfter(records, after, spansOf, reply)) {
        isNew = true;
        yield outcome;
      }
      const position = records.entries.at(-1)?.position;
      if (isNew && position !== undefined) moves.push({ topic, after, position });
    }
  }
  const rows = tally(fresh());
  const replies = topics.map(({ reply }) => reply);
  if (moves.length === 0) return replies;
  const isWritten = await writeTogether(writer, rows, moves);
  for (const { topic, position } of moves)
    if (isWritten) positions.set(topic, position);
    else positions.delete(topic);
  if (!isWritten) return undefined;
  if (replies[0]) addCounted(replies[0].counted, rows);
  return replies;
}
/** Of each topic, as this thread has last written it. */
const positions = new Map<string, string>();

async function record(writer: Writer, spansOf: SpansOf, request: RecordRequest): Promise<Recorded> {
  for (;;) {
    const after = request.anew ? undefined : await readPosition(writer, request.topic);
    const recorded = await recordAfter(writer, spansOf, request, after).catch((error: unknown) => {
      if (!isOfRows(error)) throw error;
      return recordOneByOne(writer, spansOf, request, after);
    });
    if (recorded !== undefined) return recorded;
  }
}
/** Leaves out the outcomes that can never be recorded. Otherwise one of them would stop the traces of every organisation. */
async function recordOneByOne(
  writer: Writer,
  spansOf: SpansOf,
  { topic, records }: RecordRequest,
  after: string | undefined,
): Promise<Recorded | undefined> {
  const recorded: Recorded = { counted: {}, unreadable: [], spans: [] };
  let from = after;
  for (const { entries, bytes } of singlesOf(records)) {
    const position = entries[0]?.position ?? '';
    if (from !== undefined && position <= from) continue;
    const sound: Outcome[] = [];
    for (const outcome of readAfter({ entries, bytes }, undefined, () => [], recorded)) {
      const refusal = await refusalOfOutcome(writer, spansOf, outcome);
      if (refusal === undefined) sound.push(outcome);
      else {
        const event_id = 'event_id' in outcome ? outcome.event_id : undefined;
        recorded.refused = [...(recorded.refused ?? []), { position, event_id, reason: errorText(refusal) }];
      }
    }
    const rows = tally(sound);
    if (!(await writeTally(writer, [rows], position, topic, from))) return undefined;
    positions.set(topic, position);
    from = position;
    addCounted(recorded.counted, rows);
    recorded.spans.push(...spansOf(sound));
  }
  return recorded;
}
async function refusalOfOutcome(writer: Writer, spansOf: SpansOf, outcome: Outcome): Promise<Error | undefined> {
  try {
    spansOf([outcome]);
    return await refusalOf(writer, tally([outcome]));
  } catch (error) {
    if (!isOfRows(error)) throw error;
    return error;
  }
}
function* singlesOf({ entries, bytes }: PackedRecords): Iterable<PackedRecords> {
  let at = 0;
  for (const entry of entries) {
    yield { entries: [entry], bytes: bytes.subarray(at, at + entry.length) };
    at += entry.length;
  }
}
/** `after`: undefined writes all. Returns undefined if another process has recorded meanwhile: read the position again. */
async function recordAfter(
  writer: Writer,
  spansOf: SpansOf,
  { topic, records }: RecordRequest,
  after: string | undefined,
): Promise<Recorded | undefined> {
  const recorded: Recorded = { counted: {}, unreadable: [], spans: [] };
  const last = records.entries.at(-1);
  if (last === undefined || (after !== undefined && last.position <= after)) return recorded;
  function* tallies(): Iterable<Tally> {
    for (const piece of writer.engine === 'sqlite' ? piecesOf(records) : [records]) {
      const rows = tally(readAfter(piece, after, spansOf, recorded));
      addCounted(recorded.counted, rows);
      yield rows;
    }
  }
  if (!(await writeTally(writer, tallies(), last.position, topic, after))) return undefined;
  positions.set(topic, last.position);
  return recorded;
}

function* piecesOf({ entries, bytes }: PackedRecords): Iterable<PackedRecords> {
  let [first, from, to] = [0, 0, 0];
  for (const [i, { length }] of entries.entries()) {
    to += length;
    if (to - from < PIECE_BYTES && i < entries.length - 1) continue;
    yield { entries: entries.slice(first, i + 1), bytes: bytes.subarray(from, to) };
    [first, from] = [i + 1, to];
  }
}

/** The outcomes after a position, or all. Decodes one record at a time: held together, the outcomes of a transaction would grow old on the heap. */
function* readAfter(
  { entries, bytes }: PackedRecords,
  after: string | undefined,
  spansOf: SpansOf,
  { unreadable, spans }: Pick<Recorded, 'unreadable' | 'spans'>,
): Iterable<Outcome> {
  let at = 0;
  for (const { position, length } of entries) {
    const found = after === undefined || position > after ? read(bytes.subarray(at, at + length)) : [];
    at += length;
    if (found === undefined) unreadable.push(position);
    else {
      for (const span of spansOf(found)) spans.push(span);
      yield* found;
    }
  }
}
function addCounted(counted: Record<string, number>, { counters }: Tally): void {
  for (const { counter, n } of counters) if (!NO_METRIC.test(counter)) counted[counter] = (counted[counter] ?? 0) + n;
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
