/** The one place that answers 200: after the log says that the events are on disk. In doubt it is 503. */
import type { Append } from '../../stores/event-log/port.ts';
import { LogUnavailable, RecordTooLarge } from '../../stores/event-log/port.ts';
import type { IngestContext } from './context.ts';
import type { Exchange } from './exchange.ts';
import { refuseOverloaded } from './exchange.ts';
import type { IngestRecord } from './record.ts';

/** Calls `done` with what each record became (true: a duplicate) when all are durable; refuses where that fails. */
export function store(
  exchange: Exchange,
  records: readonly IngestRecord[],
  done: (exchange: Exchange, duplicates: boolean[]) => void,
): void {
  const { ctx } = exchange;
  let bytes = 0;
  for (const { record } of records) bytes += record.data.length;
  if (ctx.gate.full) {
    refuseOverloaded(exchange);
    return;
  }
  ctx.gate.wait(bytes);
  ctx.log.append(appendsOf(records)).then(
    (results) => {
      ctx.gate.waited(bytes);
      try {
        done(exchange, duplicatesOf(records, results));
      } catch (error) {
        ctx.logger.error({ err: error }, 'unexpected error while answering');
        exchange.refuse({ code: 'internal_error' });
      }
    },
    (error: unknown) => {
      ctx.gate.waited(bytes);
      // Trying again would not help: the client must split it, not wait.
      if (error instanceof RecordTooLarge) return exchange.refuse({ code: 'payload_too_large' });
      complain(ctx, error);
      refuseOverloaded(exchange);
    },
  );
}

/** One append per topic, in the order of the records: a visitor's events stay in order. */
function appendsOf(records: readonly IngestRecord[]): Append[] {
  const [first] = records;
  if (records.length === 1) return [{ topic: first!.topic, records: [first!.record] }];
  const byTopic = new Map<string, Append>();
  for (const { topic, record } of records) {
    const append = byTopic.get(topic);
    if (append) append.records.push(record);
    else byTopic.set(topic, { topic, records: [record] });
  }
  return [...byTopic.values()];
}

function duplicatesOf(records: readonly IngestRecord[], results: readonly { positions: (string | undefined)[] }[]): boolean[] {
  if (records.length === 1) return [results[0]!.positions[0] === undefined];
  const next = new Map<string, { positions: (string | undefined)[]; at: number }>();
  let topics = 0;
  return records.map(({ topic }) => {
    let cursor = next.get(topic);
    if (cursor === undefined) next.set(topic, (cursor = { positions: results[topics++]!.positions, at: 0 }));
    return cursor.positions[cursor.at++] === undefined;
  });
}

const COMPLAIN_EVERY_MS = 5_000;
let complainedAt = Number.NEGATIVE_INFINITY;
/** A full disk refuses thousands of requests a second; one line every few seconds says so well enough. */
export function complain(ctx: IngestContext, error: unknown): void {
  const now = ctx.clock.monotonic();
  if (now - complainedAt < COMPLAIN_EVERY_MS) return;
  complainedAt = now;
  if (error instanceof LogUnavailable) ctx.logger.warn({ err: error }, 'the log takes nothing now: answering 503');
  else ctx.logger.error({ err: error }, 'the log failed: answering 503');
}
