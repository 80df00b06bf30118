import { IdWindow } from './id-window.ts';
import type { Message } from './message.ts';
import type { Place } from './names.ts';
import { type MessageIds, UnstoredIds } from './unstored-ids.ts';

/** Places of records in the id window: sequence and place in the batch. */
const PER_MESSAGE = 1_024;
export const windowPlace = (seq: number, index: number) => seq * PER_MESSAGE + index;

/** A message in memory. Freed when every group of this process has read it, or when memory is short. */
export interface Cached {
  readonly feed: TopicFeed;
  readonly size: number;
  message: Message | undefined;
}
/** A group that reads the feed. */
export interface FeedReader {
  /** The last message it has read. */
  readonly at: number;
}

/**
 * The newest messages of one topic, shared by all groups of this process that read it. The feed knows every message from `coveredFrom` on;
 * a group that is further behind reads the stream itself.
 *
 * Processes that append the same id at the same time both store it. The feed knows the first position of each id, so it recognises
 * duplicates. Its window is rebuilt from message headers when the feed opens.
 */
export class TopicFeed {
  readonly place: Place;
  readonly #ids: IdWindow;
  /** For the process that takes the topic over. */
  readonly unstored = new UnstoredIds();
  #cached: { seq: number; cached: Cached }[] = [];
  readonly #readers = new Set<FeedReader>();
  readonly #freed: (cached: Cached) => void;
  readonly #listeners = new Set<() => void>();
  /** Undefined until the tail of the stream covers this topic. */
  coveredFrom: number | undefined;
  created = 0;
  readonly ready: Promise<void>;
  #covered: () => void = () => {};

  /** `freed` is called for each message that the feed no longer needs. */
  constructor(place: Place, windowMs: number, freed: (cached: Cached) => void) {
    this.place = place;
    this.#freed = freed;
    this.#ids = new IdWindow(windowMs);
    this.ready = new Promise((resolve) => {
      this.#covered = resolve;
    });
  }

  get isUsed(): boolean {
    return this.#listeners.size > 0;
  }
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The tail sends every message from here on. `created`: when the stream was created. */
  cover(from: number, created: number): void {
    this.coveredFrom = from;
    this.created = created;
  }
  covered(): void {
    this.#covered();
  }
  push(message: Message, cached: Cached): void {
    this.note(message);
    this.unstored.add(message);
    this.#cached.push({ seq: message.seq, cached });
    for (const listener of this.#listeners) listener();
  }
  /** Whether the feed wants the message: it may have been read before the tail covered the topic. */
  wants({ seq }: Message): boolean {
    return seq >= (this.coveredFrom ?? 0);
  }

  join(reader: FeedReader): void {
    this.#readers.add(reader);
  }
  leave(reader: FeedReader): void {
    this.#readers.delete(reader);
    this.trim();
  }
  /** Frees what every reader has read. */
  trim(): void {
    if (this.#readers.size === 0) return;
    let read = Number.MAX_SAFE_INTEGER;
    for (const { at } of this.#readers) read = Math.min(read, at);
    const first = this.#cached.findIndex(({ seq }) => seq > read);
    this.#free(first < 0 ? this.#cached.length : first);
  }
  /** Remembers the ids of a message that came before the feed was opened. */
  note({ seq, time, hashes }: MessageIds): void {
    this.#ids.addAll(hashes, (index) => windowPlace(seq, index), time);
  }
  isDuplicate({ seq, time, hashes }: Message, index: number): boolean {
    const first = this.#ids.get(hashes, index * 8, time);
    return first !== undefined && first < windowPlace(seq, index);
  }

  /** The messages behind `seq`, at most `limit`. Call only where the feed covers them. */
  after(seq: number, limit: number): Message[] {
    let from = this.#cached.length;
    while (from > 0 && (this.#cached[from - 1]?.seq ?? 0) > seq) from--;
    return this.#cached.slice(from, from + limit).flatMap(({ cached }) => cached.message ?? []);
  }

  /** Frees a message and those before it. */
  drop(cached: Cached): void {
    this.#free(this.#cached.findIndex((one) => one.cached === cached) + 1);
  }
  /** Forgets cached messages: they were removed from the stream. */
  clear(): void {
    this.#free(this.#cached.length);
  }
  #free(count: number): void {
    const freed = this.#cached.splice(0, count);
    for (const { seq, cached } of freed) {
      this.coveredFrom = Math.max(this.coveredFrom ?? 0, seq + 1);
      this.#freed(cached);
    }
  }
}
