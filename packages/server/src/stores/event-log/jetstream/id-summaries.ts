import { headers } from '@nats-io/transport-node';
import type { DirectGet } from './direct-get.ts';
import { MOST_IDS } from './id-window.ts';
import type { Message } from './message.ts';
import { ID_STREAM, idSubject, type Place } from './names.ts';
import { type Publisher, WrongLastSequence } from './publisher.ts';
import type { IdScanner } from './scan-ids.ts';
import type { Streams } from './streams.ts';
import { decodeSummary, encodeSummary, type MessageIds, type StoredSummary, type UnstoredIds } from './unstored-ids.ts';

export interface IdSummariesDeps {
  streams: Streams;
  direct: DirectGet;
  scanner: IdScanner;
  /** Of its own: summaries that cannot be stored say nothing about the log. */
  publisher: Publisher;
  windowMs: number;
}
export interface IdRange {
  /** When the stream was created. Milliseconds since 1970. */
  created: number;
  /** Milliseconds since 1970. */
  since: number;
  /** Exclusive. */
  untilSeq: number;
  /** The topic's last message, if it is known. */
  lastSeq?: number;
}
/** Where the summaries of a topic end, and the messages behind them that were read from headers. */
export interface ReadIds {
  revision: number;
  from: number;
  messages: MessageIds[];
}

const CHUNK = 64;
/** So much is read with bodies: what a reader leaves without a summary, unless its messages are large. */
const PAGE = { batch: 1_000, max_bytes: 524_288 };
/** Before the first summary there is nothing in most topics. */
const SMALL_PAGE = { batch: 4, max_bytes: 65_536 };
/** Every gap between summaries is a scan of its own. With more, everything before them is one scan. */
const MOST_GAPS = 4;
/** More than a reader that stores summaries leaves. */
const MOST_CONTINUED = 20_000;

/**
 * The ids of a topic's messages, many messages in one, so that a process that takes the topic over does not have to read the headers of
 * the whole deduplication window. The readers of a topic store them as they read. They are an optimisation: headers fill every gap, and
 * replace summaries that do not match the stream.
 */
export class IdSummaries {
  readonly #deps: IdSummariesDeps;

  constructor(deps: IdSummariesDeps) {
    this.#deps = deps;
  }

  /** Visits the ids of the messages in the range at least once. Returns undefined if there are no summaries to continue. */
  async read(place: Place, range: IdRange, visit: (ids: MessageIds) => void): Promise<ReadIds | undefined> {
    const stored = await this.#stored(place.topic, range.since).catch(() => []);
    const { summaries, gaps } = chain(
      stored.filter(({ created }) => created === range.created),
      range.untilSeq,
    );
    const last = summaries.at(-1);
    if (last === undefined) {
      await this.#scan(place, range, visit);
      return undefined;
    }
    const end = last.last;
    const behind: MessageIds[] = [];
    // Begins with the last message of the newest summary: it is another one if the stream was restored from a backup. Consumers and reads
    // round its time differently.
    await this.#scan(place, { ...range, fromSeq: end.seq }, (ids) => void behind.push(ids));
    const [same, ...messages] = behind;
    if (same?.seq !== end.seq || Math.abs(same.time - end.time) > 1 || !same.hashes.equals(end.hashes)) {
      await this.#scan(place, range, visit);
      return undefined;
    }
    const first = summaries[0];
    if (first && first.first.time >= range.since) await this.#scan(place, { ...range, untilSeq: first.from }, visit, SMALL_PAGE);
    for (const { from, to } of gaps) await this.#scan(place, { ...range, fromSeq: from, untilSeq: to }, visit);
    for (const summary of summaries) summary.visit(visit);
    for (const ids of messages) visit(ids);
    return messages.length > MOST_CONTINUED ? undefined : { revision: last.revision, from: last.to, messages };
  }

  /** Reads a page of messages first: headers alone need a consumer, which all brokers agree on. */
  async #scan(
    { stream, subject }: Place,
    { since, untilSeq, lastSeq = untilSeq, fromSeq }: Omit<IdRange, 'created'> & { fromSeq?: number },
    visit: (ids: MessageIds) => void,
    page = PAGE,
  ): Promise<void> {
    const { direct, scanner } = this.#deps;
    const from = fromSeq === undefined ? { start_time: new Date(since).toISOString() } : { seq: fromSeq };
    const { messages } = await direct.batch(stream, { ...from, next_by_subj: subject, ...page });
    // Without their bodies, which the visitor may keep.
    for (const { seq, time, hashes } of messages) if (seq < untilSeq) visit({ seq, time, hashes });
    const read = messages.at(-1)?.seq;
    // A broker that lags does not know the last message yet.
    if (read !== undefined && read >= Math.min(lastSeq, untilSeq - 1)) return;
    const next = read === undefined ? fromSeq : read + 1;
    await scanner.scan({ stream, filters: [subject], since, untilSeq, ...(next !== undefined && { fromSeq: next }) }, visit);
  }

  /** In the order in which they were stored. */
  async #stored(topic: string, since: number): Promise<Stored[]> {
    const { direct } = this.#deps;
    const found: Stored[] = [];
    let from: { seq: number } | { start_time: string } = { start_time: new Date(since).toISOString() };
    for (;;) {
      const page: { messages: Message[]; pending: number } = await direct.batch(ID_STREAM, {
        ...from,
        next_by_subj: idSubject(topic),
        batch: CHUNK,
      });
      for (const { seq, data } of page.messages) {
        const summary = decodeSummary(data);
        if (summary) found.push({ ...summary, revision: seq });
        from = { seq: seq + 1 };
      }
      if (page.messages.length === 0 || page.pending === 0) return found;
    }
  }

  /** Stores what waits. Rejects if the broker does not take it; it waits on then. */
  async store(topic: string, unstored: UnstoredIds): Promise<void> {
    const { direct, publisher, streams, windowMs } = this.#deps;
    for (let summary = unstored.next(); summary; summary = unstored.next()) {
      const meta = headers();
      meta.set('Nats-Expected-Last-Subject-Sequence', String(unstored.revision));
      try {
        await streams.ensureIds(windowMs);
        const { seq } = await publisher.publish(idSubject(topic), encodeSummary(summary), meta);
        unstored.stored(summary.to, seq);
      } catch (error) {
        if (!(error instanceof WrongLastSequence)) {
          streams.forget(ID_STREAM);
          unstored.failed();
          throw error;
        }
        const message = await direct.leaderGet(ID_STREAM, { last_by_subj: idSubject(topic) });
        const last = message && decodeSummary(message.data);
        // The last one has expired, or the answer to an own write was lost. Else another process reads the topic too.
        if (message === undefined || (last?.from === summary.from && last.to === summary.to))
          unstored.stored(last?.to ?? 0, message?.seq ?? 0);
        else return unstored.storedByOther(last, message.seq);
      }
    }
  }
}

type Stored = StoredSummary & { revision: number };

/** The summaries before `untilSeq` that do not overlap, newest first chosen, in the order of the stream; and the gaps between them. */
function chain(stored: readonly Stored[], untilSeq: number): { summaries: Stored[]; gaps: { from: number; to: number }[] } {
  const summaries: Stored[] = [];
  const gaps: { from: number; to: number }[] = [];
  let [limit, ids] = [untilSeq, 0];
  for (const summary of [...stored].reverse()) {
    if (summary.to > limit) continue;
    if (summaries.length > 0 && summary.to < limit) {
      if (gaps.length === MOST_GAPS) break;
      gaps.unshift({ from: summary.to, to: limit });
    }
    summaries.unshift(summary);
    limit = summary.from;
    ids += summary.ids;
    if (ids > MOST_IDS) break;
  }
  return { summaries, gaps };
}
