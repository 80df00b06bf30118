/** Appends events to the ingest log. A request is answered 200 only after the log says that its events are on disk. */

import type { IngestRecord } from '../../intake/ingest-record.ts';
import { type Append, type AppendResult, LogUnavailable, RecordTooLarge } from '../../stores/event-log/port.ts';
import type { IngestContext } from './deps.ts';
import { type Exchange, OVERLOADED, TOO_LARGE } from './exchange.ts';

/**
 * Calls `done` when every record is durable, with whether each was a duplicate. Rejects the request where that fails. `tooLarge`: the log can
 * never take one of the records, so the client must split the request.
 */
export function store(
  exchange: Exchange,
  records: readonly IngestRecord[],
  done: (duplicates: boolean[]) => void,
  tooLarge: () => void = () => exchange.reject(TOO_LARGE),
): void {
  const { ctx } = exchange;
  if (ctx.capacity.isFull) {
    exchange.reject(OVERLOADED);
    return;
  }
  let bytes = 0;
  for (const { record } of records) bytes += record.data.length;
  ctx.capacity.beginAppend(bytes);
  if (exchange.rules !== undefined) ctx.fairAdmission.charge(exchange.rules.orgId, records.length, bytes);
  ctx.log.append(appendsOf(records)).then(
    (results) => {
      ctx.capacity.endAppend(bytes);
      try {
        done(duplicatesOf(records, results));
      } catch (error) {
        exchange.fail(error);
      }
    },
    (error: unknown) => {
      ctx.capacity.endAppend(bytes);
      if (error instanceof RecordTooLarge) return tooLarge();
      logAppendFailure(ctx, error);
      exchange.reject(OVERLOADED);
    },
  );
}

/** One append per topic, in the order of the records, so that a visitor's events stay in order. */
export function appendsOf(records: readonly IngestRecord[]): Append[] {
  const appends: Append[] = [];
  for (const { topic, record } of records) {
    const append = appends.find((each) => each.topic === topic);
    if (append) append.records.push(record);
    else appends.push({ topic, records: [record] });
  }
  return appends;
}

/** A record without a position was swallowed by the deduplication window. Results come in the order of `appendsOf`. */
export function duplicatesOf(records: readonly IngestRecord[], results: readonly AppendResult[]): boolean[] {
  if (results.length === 1) return records.map((_, at) => results[0]?.positions[at] === undefined);
  const positions = new Map<string, Iterator<string | undefined>>();
  let topics = 0;
  return records.map(({ topic }) => {
    let next = positions.get(topic);
    if (next === undefined) positions.set(topic, (next = (results[topics++]?.positions ?? []).values()));
    return next.next().value === undefined;
  });
}

const LOG_FAILURE_EVERY_MS = 5_000;
let failureLoggedAt = Number.NEGATIVE_INFINITY;
/** A full disk rejects thousands of requests per second: at most one line every five seconds. */
export function logAppendFailure(ctx: IngestContext, error: unknown): void {
  const now = ctx.clock.monotonic();
  if (now - failureLoggedAt < LOG_FAILURE_EVERY_MS) return;
  failureLoggedAt = now;
  if (error instanceof LogUnavailable) ctx.logger.warn({ err: error }, 'event log unavailable, rejecting events');
  else ctx.logger.error({ err: error }, 'event log failed, rejecting events');
}
