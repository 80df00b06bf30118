import { type JetStreamApi, JetStreamError, orNone } from './api.ts';
import {
  CANARY_STREAM,
  CANARY_SUBJECT,
  type CursorPlace,
  ID_STREAM,
  ID_SUBJECTS,
  PATCH_STREAM,
  PATCH_SUBJECTS,
  type Place,
  RETRY_STREAM,
  RETRY_SUBJECTS,
} from './names.ts';

/** Long enough for a publish whose confirmation was lost to be repeated under its message id. */
const SERVER_WINDOW_MS = 120_000;
/** Longer than it takes until a group is read again: lease, restart, thousands of groups that start. `JOURNAL_BYTES` bounds it too. */
const JOURNAL_MS = 3_600_000;
const JOURNAL_BYTES = 33_554_432;
const MOST_IDS_MS = 86_400_000;
const IDS_MORE_MS = 60_000;
/** "stream name already in use with a different configuration": another process has just created it. */
const NAME_IN_USE = 10_058;

/** The streams behind topics, created on first use. */
export class Streams {
  readonly #api: JetStreamApi;
  readonly #replicas: number;
  readonly #ensured = new Map<string, Promise<void>>();

  constructor(api: JetStreamApi, replicas: number) {
    this.#api = api;
    this.#replicas = replicas;
  }

  ensure({ stream, subjects }: Pick<Place, 'stream' | 'subjects'>): Promise<void> {
    return this.#make(stream, subjects, {});
  }
  /** Keeps the last message of each subject. */
  ensureCursors({ stream, subjects }: CursorPlace): Promise<void> {
    return this.#make(stream, subjects, { max_msgs_per_subject: 1, discard: 'old' });
  }
  /** Without replicas, in memory. */
  ensureJournal({ stream, subjects }: CursorPlace): Promise<void> {
    const limits = { max_age: JOURNAL_MS * 1_000_000, max_bytes: JOURNAL_BYTES, discard: 'old' };
    return this.#make(stream, subjects, { storage: 'memory', num_replicas: 1, ...limits });
  }
  /** Kept a little longer than the window: a summary is stored after its messages. */
  ensureIds(windowMs: number): Promise<void> {
    const max_age = (Math.min(windowMs, MOST_IDS_MS) + IDS_MORE_MS) * 1_000_000;
    return this.#make(ID_STREAM, [ID_SUBJECTS], { max_age, discard: 'old' });
  }
  ensureRetries(): Promise<void> {
    return this.#make(RETRY_STREAM, [RETRY_SUBJECTS], {});
  }
  ensurePatches(): Promise<void> {
    return this.#make(PATCH_STREAM, [PATCH_SUBJECTS], { max_msgs_per_subject: 1, discard: 'old' });
  }
  /** The stream that proves that something can be stored. It keeps one message. */
  ensureCanary(): Promise<void> {
    return this.#make(CANARY_STREAM, [CANARY_SUBJECT], { max_msgs: 1, discard: 'old' });
  }

  #make(stream: string, subjects: string[], more: object): Promise<void> {
    let ensured = this.#ensured.get(stream);
    if (!ensured) {
      ensured = this.#create(stream, subjects, more);
      this.#ensured.set(stream, ensured);
      // Retry on the next call after a failure.
      ensured.catch(() => this.#ensured.delete(stream));
    }
    return ensured;
  }

  async #create(stream: string, subjects: string[], more: object): Promise<void> {
    if (await orNone(this.#api.streamInfo(stream))) return;
    const usual = { duplicate_window: SERVER_WINDOW_MS * 1_000_000, allow_direct: true };
    try {
      await this.#api.createStream(stream, subjects, this.#replicas, { ...usual, ...more });
    } catch (error) {
      if (!(error instanceof JetStreamError && error.errCode === NAME_IN_USE)) throw error;
    }
  }

  forget(stream: string): void {
    this.#ensured.delete(stream);
  }
}
