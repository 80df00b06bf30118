import type { DirectGet } from './direct-get.ts';
import type { IdSummaries } from './id-summaries.ts';
import { IdWindow } from './id-window.ts';
import type { Message } from './message.ts';
import type { Patches } from './patches.ts';
import { type FeedReader, type TopicFeed, windowPlace } from './topic-feed.ts';

export interface GroupReaderDeps {
  direct: DirectGet;
  summaries: IdSummaries;
  patches: Patches;
  windowMs: number;
  now(): number;
}

const FROM_FEED = 16;
const FROM_STREAM = 32;

/**
 * Reads a topic's messages in order for one group: from the feed where that covers them, else from the stream by direct get, without a
 * consumer on the server.
 */
export class GroupReader implements FeedReader {
  readonly #feed: TopicFeed;
  readonly #deps: GroupReaderDeps;
  #at: number;
  /** Ids before the messages of a long backlog, which the feed does not know any more. */
  #ids: IdWindow | undefined;

  /** `at`: the last message that was read before. */
  constructor(feed: TopicFeed, at: number, deps: GroupReaderDeps) {
    this.#feed = feed;
    this.#at = at;
    this.#deps = deps;
    feed.join(this);
  }
  /** Call when the group is not read any more. */
  close(): void {
    this.#feed.leave(this);
  }

  /** The last message read. */
  get at(): number {
    return this.#at;
  }
  /** True while the feed holds everything that is left to read. */
  get isLive(): boolean {
    return this.#at + 1 >= (this.#feed.coveredFrom ?? Number.POSITIVE_INFINITY);
  }
  get backlog(): Message[] {
    return this.#feed.after(this.#at, Number.MAX_SAFE_INTEGER);
  }

  /** The next messages. Empty at the end of the topic. */
  async next(): Promise<Message[]> {
    while (!this.isLive) {
      const { stream, subject } = this.#feed.place;
      const covered = this.#feed.coveredFrom ?? 0;
      const { messages } = await this.#deps.direct.batch(stream, { seq: this.#at + 1, next_by_subj: subject, batch: FROM_STREAM });
      const last = messages.at(-1);
      if (last) {
        await this.#knowIdsBefore(messages);
        this.#at = last.seq;
        return messages;
      }
      // A replica that lags has not seen all of them: the leader decides.
      const more = await this.#deps.direct.leaderGet(stream, { seq: this.#at + 1, next_by_subj: subject });
      if (more !== undefined && more.seq < covered) {
        await this.#knowIdsBefore([more]);
        this.#at = more.seq;
        return [more];
      }
      this.#at = Math.max(this.#at, covered - 1);
    }
    this.#ids = undefined;
    const messages = this.#feed.after(this.#at, FROM_FEED);
    this.#at = messages.at(-1)?.seq ?? this.#at;
    if (messages.length > 0) this.#feed.trim();
    return messages;
  }

  /** A message of which some records were not settled by the last consumer. */
  async again(seq: number): Promise<Message | undefined> {
    const { stream, subject, topic } = this.#feed.place;
    const message = await this.#deps.direct.get(stream, seq);
    if (message) return message.subject === subject ? message : undefined;
    return this.#deps.patches.get(topic, subject, seq);
  }

  isDuplicate(message: Message, index: number): boolean {
    if (this.#ids === undefined) return this.#feed.isDuplicate(message, index);
    const first = this.#ids.get(message.hashes, index * 8, message.time);
    return first !== undefined && first < windowPlace(message.seq, index);
  }

  async #knowIdsBefore(messages: readonly Message[]): Promise<void> {
    const [first] = messages;
    if (first === undefined) return;
    const { summaries, windowMs, now } = this.#deps;
    if (this.#ids === undefined) {
      if (first.time > now() - windowMs / 2) return;
      const ids = new IdWindow(windowMs);
      const range = { created: this.#feed.created, since: first.time - windowMs, untilSeq: first.seq };
      await summaries.read(this.#feed.place, range, ({ seq, time, hashes }) =>
        ids.addAll(hashes, (index) => windowPlace(seq, index), time),
      );
      this.#ids = ids;
    }
    for (const { seq, time, hashes } of messages) this.#ids.addAll(hashes, (index) => windowPlace(seq, index), time);
  }
}
