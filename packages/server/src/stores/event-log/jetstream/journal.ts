import type { Append, LogRecord } from '../port.ts';
import { type JetStreamApi, orNone } from './api.ts';
import type { JournalPlace } from './cursor.ts';
import type { DirectGet } from './direct-get.ts';
import type { Layout } from './names.ts';
import type { Publisher } from './publisher.ts';
import { packBytes, unpackRecords } from './record-batch.ts';
import type { Streams } from './streams.ts';

/** Settled records, and the appends that belong to them. An entry without records says that its owner has taken the group over. */
export interface JournalEntry {
  /** The consumer's token, as in the cursor. */
  owner: string;
  settled: [seq: number, ...indexes: number[]][];
  appends: readonly Append[];
}
export interface JournalDeps {
  api: JetStreamApi;
  layout: Layout;
  streams: Streams;
  direct: DirectGet;
  /** Of its own: a journal that does not answer says nothing about the log. */
  publisher: Publisher;
  monotonic(): number;
  onWarning(message: string, error: unknown): void;
}

/** After a failure nothing is written for this long. */
const WRITE_PAUSE_MS = 5_000;
/** After a failure nothing is read for this long: thousands of groups that start must not all wait for a broker that hangs. */
const READ_PAUSE_MS = 500;
const CHUNK = 256;

/**
 * Settlements of groups since they last stored their cursor, in the memory of one broker. It saves a replicated write per settlement: a
 * message costs a twentieth of one that three brokers flush. The process that takes a group over reads it, so deliveries with an entry
 * here are not repeated after a kill. If that broker dies as well, records settled since the last stored cursor are delivered again.
 */
export class Journal {
  readonly #deps: JournalDeps;
  /** By stream. */
  readonly #writePause = new Map<string, number>();
  readonly #readPause = new Map<string, number>();
  /** Streams whose failure was reported. */
  readonly #failing = new Set<string>();

  constructor(deps: JournalDeps) {
    this.#deps = deps;
  }

  /** Its sequence; undefined if it could not be stored: store the cursor then. */
  async add(topic: string, group: string, entry: JournalEntry): Promise<number | undefined> {
    const { layout, publisher, streams } = this.#deps;
    const place = layout.journalOf(topic, group);
    const stored = await this.#attempt(place.stream, this.#writePause, WRITE_PAUSE_MS, async () => {
      await streams.ensureJournal(place);
      return publisher.publish(place.subject, encodeEntry(entry), undefined);
    });
    return stored?.seq;
  }

  /**
   * The settlements behind `from`, oldest first. None if the broker that had them is away. Call `mark` before.
   */
  async since(topic: string, group: string, from: JournalPlace | undefined): Promise<JournalEntry[]> {
    const counted: JournalEntry[] = [];
    let owned = from?.owner;
    for (const entry of await this.#read(topic, group, (from?.seq ?? 0) + 1))
      if (entry.settled.length === 0) owned = entry.owner;
      else if (owned === undefined || entry.owner === owned) counted.push(entry);
    return counted;
  }
  /** From now on, only entries of `owner` count: a consumer that was frozen and replaced can settle nothing any more. */
  mark(topic: string, group: string, owner: string): Promise<number | undefined> {
    return this.add(topic, group, { owner, settled: [], appends: [] });
  }

  async #read(topic: string, group: string, from: number): Promise<JournalEntry[]> {
    const { direct, layout, streams } = this.#deps;
    const place = layout.journalOf(topic, group);
    const entries = await this.#attempt(place.stream, this.#readPause, READ_PAUSE_MS, async () => {
      await streams.ensureJournal(place);
      const found: JournalEntry[] = [];
      for (let seq = from, pending = 1; pending > 0; ) {
        const page = await direct.batch(place.stream, { seq, next_by_subj: place.subject, batch: CHUNK });
        for (const message of page.messages) {
          found.push(decodeEntry(message.data));
          seq = message.seq + 1;
        }
        pending = page.messages.length === 0 ? 0 : page.pending;
      }
      return found;
    });
    return entries ?? [];
  }

  async remove(topic: string, group: string): Promise<void> {
    const { api, layout } = this.#deps;
    const { stream, subject } = layout.journalOf(topic, group);
    await this.#attempt(stream, this.#readPause, READ_PAUSE_MS, () => orNone(api.call(`STREAM.PURGE.${stream}`, { filter: subject })));
  }

  /** Undefined if the stream is not available. The journal is an optimisation, so a failure is no more than that. */
  async #attempt<T>(stream: string, pauses: Map<string, number>, pauseMs: number, work: () => Promise<T>): Promise<T | undefined> {
    const { monotonic, streams } = this.#deps;
    if (monotonic() < (pauses.get(stream) ?? 0)) return undefined;
    try {
      const result = await work();
      this.#failing.delete(stream);
      return result;
    } catch (error) {
      if (!this.#failing.has(stream)) this.#deps.onWarning('settlement journal unavailable, cursors are stored at once', error);
      this.#failing.add(stream);
      pauses.set(stream, monotonic() + pauseMs);
      streams.forget(stream);
      return undefined;
    }
  }
}

/** Length and bytes of a JSON head, then the records of the appends in their order. */
export function encodeEntry({ owner, settled, appends }: JournalEntry): Buffer {
  const head = Buffer.from(JSON.stringify({ owner, settled, appends: appends.map(({ topic, records }) => [topic, records.length]) }));
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, ...appends.flatMap(({ records }) => records.map(packBytes))]);
}
export function decodeEntry(data: Uint8Array): JournalEntry {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const end = 4 + bytes.readUInt32BE(0);
  const head = JSON.parse(bytes.toString('utf8', 4, end)) as Omit<JournalEntry, 'appends'> & { appends: [string, number][] };
  const records: LogRecord[] = unpackRecords(bytes.subarray(end));
  return { ...head, appends: head.appends.map(([topic, count]) => ({ topic, records: records.splice(0, count) })) };
}
