/**
 * Keeps rejected events, so that each can be found, explained, corrected and sent again: as dead letters of stage `ingest`.
 *
 * Copies wait in memory and are appended to the log twice a second, off the path of accepted events; a crash can lose the last
 * half second of them. A flood stays bounded: per pipeline the newest 1,000 of a burst, then 100 per second, and 1 MB per flush
 * for all pipelines. Events beyond that are only counted, as `rejected_dropped`. Bodies of refused senders (`refused-senders.ts`) are read
 * within the same budgets.
 */
import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';
import { outcomeAppend } from '../../outcomes/outcome-log.ts';
import type { Clock } from '../../runtime/clock.ts';
import { randomText } from '../../runtime/ids.ts';
import type { Logger } from '../../runtime/logger.ts';
import { atStep } from '../../runtime/stall-watch.ts';
import { turns } from '../../runtime/turns.ts';
import { WorkInterval } from '../../runtime/work-interval.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { type EventLog, RecordTooLarge } from '../../stores/event-log/port.ts';
import { MAX_KEPT_BYTES } from './exchange.ts';
import { deadLetterOf, type Rejected, type RequestFields } from './rejected-letter.ts';
import { RetriedAppends } from './retried-appends.ts';

const FLUSH_MS = 500;
const MAX_BUFFERED_BYTES = 1_048_576;
const BURST_EVENTS = 1_000;
const EVENTS_PER_SECOND = 100;
/** Outcomes of one log record together, written in one step: far below the 1 MB that NATS takes. */
const MAX_RECORD_BYTES = 131_072;
/** Parsing a larger event may take milliseconds. */
const LARGE_BYTES = 16_384;
/** Bodies of refused senders that are read at once, per pipeline. */
const MAX_READING = 100;
/** Appends that wait for a log that is away. */
const MAX_UNSENT = 64;

interface Pending {
  orgId: string;
  events: Rejected[];
  bytes: number;
  dropped: number;
}
export interface RejectedEvents {
  keep(rejected: Rejected): void;
  /** Whether one more request of a refused sender would be kept. If not, its body is not worth reading. */
  hasRoom(pipelineId: string): boolean;
  /** Counts an event that is not kept. */
  drop(about: Pick<IngestRules, 'orgId' | 'pipelineId'>): void;
  /** A body of a refused sender that is being read counts towards the budgets. */
  beginReading(pipelineId: string): void;
  /** Bytes of such a body. False where memory has no room for them. */
  hold(bytes: number): boolean;
  endReading(pipelineId: string, held: number): void;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export function keepRejectedEvents(deps: {
  log: Pick<EventLog, 'append' | 'atomic'>;
  clock: Clock;
  logger: Pick<Logger, 'warn' | 'error'>;
  retentionMs: number;
}): RejectedEvents {
  const { log, clock, logger, retentionMs } = deps;
  const run = randomText(16);
  let sequence = 0;
  let pending = new Map<string, Pending>();
  let buffered = 0;
  const appends = new RetriedAppends(log, MAX_UNSENT);
  let writing: Promise<void> = Promise.resolve();
  const budgets = new Map<string, { tokens: number; at: number }>();
  /** Bodies of refused senders that are being read, by pipeline, and their bytes. */
  const reading = new Map<string, number>();
  let held = 0;

  function pendingOf({ pipelineId, orgId }: Pick<IngestRules, 'orgId' | 'pipelineId'>): Pending {
    let entry = pending.get(pipelineId);
    if (entry === undefined) pending.set(pipelineId, (entry = { orgId, events: [], bytes: 0, dropped: 0 }));
    flushes.wake();
    return entry;
  }
  function keep(rejected: Rejected): void {
    const entry = pendingOf(rejected.rules);
    // A copy: a slice would keep the whole body in memory.
    const bytes = Buffer.from(rejected.bytes.subarray(0, MAX_KEPT_BYTES + 1));
    entry.events.push({ ...rejected, bytes });
    entry.bytes += bytes.length;
    buffered += bytes.length;
    // Trimmed in steps: shifting a list for every event of a flood would be slow.
    if (entry.events.length >= 2 * BURST_EVENTS) drop(entry, entry.events.length - BURST_EVENTS);
    while (buffered > MAX_BUFFERED_BYTES && entry.events.length > 1) drop(entry, Math.ceil(entry.events.length / 2));
    if (buffered > MAX_BUFFERED_BYTES) drop(entry, 1);
  }
  /** The oldest go first. */
  function drop(entry: Pending, count: number): void {
    for (const { bytes } of entry.events.splice(0, count)) {
      entry.bytes -= bytes.length;
      buffered -= bytes.length;
    }
    entry.dropped += count;
  }

  /** How many events of the pipeline may be kept now, at most `wanted`. */
  function spend(pipelineId: string, wanted: number): number {
    const now = clock.monotonic();
    const tokens = tokensOf(pipelineId, now);
    const spent = Math.min(wanted, Math.floor(tokens));
    budgets.set(pipelineId, { tokens: tokens - spent, at: now });
    return spent;
  }
  function tokensOf(pipelineId: string, now: number): number {
    const budget = budgets.get(pipelineId);
    if (budget === undefined) return BURST_EVENTS;
    return Math.min(BURST_EVENTS, budget.tokens + ((now - budget.at) * EVENTS_PER_SECOND) / 1_000);
  }
  function hasRoom(pipelineId: string): boolean {
    const read = reading.get(pipelineId) ?? 0;
    const waiting = read + (pending.get(pipelineId)?.events.length ?? 0);
    return read < MAX_READING && buffered + held < MAX_BUFFERED_BYTES && waiting + 1 <= tokensOf(pipelineId, clock.monotonic());
  }
  /** Full budgets are those of pipelines that reject little: nothing needs to be remembered of them. */
  function forgetFullBudgets(): void {
    const now = clock.monotonic();
    for (const [id, { tokens, at }] of budgets) if (tokens + ((now - at) * EVENTS_PER_SECOND) / 1_000 >= BURST_EVENTS) budgets.delete(id);
  }

  function flush(): Promise<void> {
    writing = writing.then(write).catch((error: unknown) => logger.error({ err: error }, 'rejected events not stored'));
    return writing;
  }
  async function write(): Promise<void> {
    const taken = pending;
    pending = new Map();
    for (const [pipelineId, entry] of taken) {
      drop(entry, entry.events.length - spend(pipelineId, entry.events.length));
      for await (const outcome of outcomesOf(pipelineId, entry)) {
        await turns.bulk();
        appends.push(outcomeAppend(log, pipelineId, `rejected/${run}/${sequence++}`, [outcome]));
        if (entry.bytes > LARGE_BYTES) turns.tookLong();
      }
    }
    forgetFullBudgets();
    try {
      await appends.write();
    } catch (error) {
      if (error instanceof RecordTooLarge) logger.error({ err: error }, 'rejected events too large for the log, not kept');
      else logger.warn({ err: error, appends: appends.waiting }, 'rejected events not written, retrying');
    }
  }
  /** Parsing and writing a megabyte takes tens of milliseconds, so each event may begin a turn of the loop. */
  async function* outcomesOf(pipelineId: string, { orgId, events, dropped }: Pending): AsyncGenerator<Outcome> {
    const about = { kind: 'rejected_events' as const, at: clock.now(), org_id: orgId, pipeline_id: pipelineId };
    let letters: DeadLetter[] = [];
    let size = 0;
    const sizes = new Map<RequestFields, number>();
    /** The events of a batch share it: 500 of them may have a context of 32 KB each. */
    const sizeOf = (request: RequestFields): number => {
      let known = sizes.get(request);
      if (known === undefined) sizes.set(request, (known = JSON.stringify(request).length));
      return known;
    };
    for (const event of events) {
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
      atStep('rejected event', pipelineId);
      buffered -= event.bytes.length;
      letters.push(deadLetterOf(event, retentionMs));
      if (event.bytes.length > LARGE_BYTES) turns.tookLong();
      size += event.bytes.length + sizeOf(event.request);
      if (size < MAX_RECORD_BYTES) continue;
      yield { ...about, letters, dropped: 0 };
      letters = [];
      size = 0;
    }
    if (letters.length > 0 || dropped > 0) yield { ...about, letters, dropped };
  }

  const flushes = new WorkInterval(FLUSH_MS, () => {
    const had = pending.size + appends.waiting + budgets.size > 0;
    void flush();
    return had;
  });
  return {
    keep,
    hasRoom,
    drop: (about) => void pendingOf(about).dropped++,
    beginReading: (pipelineId) => void reading.set(pipelineId, (reading.get(pipelineId) ?? 0) + 1),
    hold(bytes) {
      held += bytes;
      return buffered + held <= MAX_BUFFERED_BYTES;
    },
    endReading(pipelineId, bytes) {
      held -= bytes;
      const left = (reading.get(pipelineId) ?? 0) - 1;
      if (left > 0) reading.set(pipelineId, left);
      else reading.delete(pipelineId);
    },
    flush,
    async stop() {
      flushes.stop();
      await flush();
    },
  };
}
