import { IdWindow } from './id-window.ts';
import type { Message } from './message.ts';
import type { Place } from './names.ts';

/** Places of records in the id window: sequence and place in the batch. */
const PER_MESSAGE = 1_024;
export const windowPlace = (seq: number, index: number) => seq * PER_MESSAGE + index;

/**
 * The newest messages of one topic, shared by all groups of this process that read it. The feed knows every message from `coveredFrom` on;
 * a group that is further behind reads the stream itself.
 *
 * Processes that append the same id at the same time both store it. The feed knows where each id came first and so tells duplicates
 * apart; its window is rebuilt from message headers when the feed opens.
 */
export class TopicFeed {
  readonly place: Place;
  readonly #ids: IdWindow;
  #messages: Message[] = [];
  readonly #listeners = new Set<() => void>();
  /** Undefined until the tail of the stream covers this topic. */
  coveredFrom: number | undefined;
  readonly ready: Promise<void>;
  #covered: () => void = () => {};

  constructor(place: Place, windowMs: number) {
    this.place = place;
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

  /** The tail sends every message from here on. */
  cover(from: number): void {
    this.coveredFrom = from;
  }
  covered(): void {
    this.#covered();
  }
  push(message: Message): void {
    if (message.seq < (this.coveredFrom ?? 0)) return;
    this.note(message);
    this.#messages.push(message);
    for (const listener of this.#listeners) listener();
  }
  /** Remembers the ids of a message that came before the feed was opened. */
  note({ seq, time, hashes }: Pick<Message, 'seq' | 'time' | 'hashes'>): void {
    this.#ids.addAll(hashes, (index) => windowPlace(seq, index), time);
  }
  isDuplicate({ seq, time, hashes }: Message, index: number): boolean {
    const first = this.#ids.get(hashes, index * 8, time);
    return first !== undefined && first < windowPlace(seq, index);
  }

  /** The messages behind `seq`, at most `limit`. Call only where the feed covers them. */
  after(seq: number, limit: number): Message[] {
    let from = this.#messages.length;
    while (from > 0 && (this.#messages[from - 1]?.seq ?? 0) > seq) from--;
    return this.#messages.slice(from, from + limit);
  }

  /** Frees a message. Called for the oldest one first. */
  drop(message: Message): void {
    if (this.#messages[0] !== message) return;
    this.#messages.shift();
    this.coveredFrom = Math.max(this.coveredFrom ?? 0, message.seq + 1);
  }
  /** Forgets cached messages: they were removed from the stream. */
  clear(): void {
    const last = this.#messages.at(-1);
    if (last) this.coveredFrom = last.seq + 1;
    this.#messages = [];
  }
}
