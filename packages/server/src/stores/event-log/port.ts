/**
 * The event log: topics of records, and groups that read them. Every engine passes `conformance/`.
 *
 * Topic names in use: `ingest.<partition>`, `events.<pipeline_id>`, `replay.<integration_id>`, `limits.<integration_id>`,
 * `batches.<integration_id>`, `lanes.<integration_id>`, `outcomes` or `outcomes.<part>`, `erasures`, `dlq-delivery-<integration_id>` (also announced on a NATS subject of
 * that name). The part before the first dot, or the whole name, is the topic's family; the deduplication window spans a family.
 *
 * The port promises what every engine can keep; a group gets every record at least once. Engines differ in how close they
 * come to exactly once when a process dies:
 *
 * | | LMDB | JetStream | Kafka (possible) |
 * |---|---|---|---|
 * | `append` has resolved | flushed to disk | stored by the stream's quorum | stored by the in-sync replicas |
 * | `ackAll` has resolved | survives the death of the process; a power cut may undo the last moments, appends included | survives the death of the process; if one broker dies in the same moment, the last 0.2 s may be undone, appends included (more with `repeats`) | offset or own settled set committed |
 * | `ackAll` with `appends` | one transaction: all or nothing | one journal entry: all or nothing; large appends first, then the entry | one transaction, or as JetStream |
 * | `ackAll` with `derive`, `save` | the same transaction | `appends`, then `save`, then the acknowledgements with `derive` | as JetStream |
 * | `atomic` | true | false | true with transactions |
 * | a known id | dropped at append | dropped at append by the process that knows it; of ids that two processes append at once, readers get the first | as JetStream |
 *
 * `derive` and `save` stay because processing would otherwise need three commits per group instead of one, and because the
 * order append, save, acknowledge is what keeps visitors consistent after a crash. `atomic` stays because it decides whether
 * outcomes of many events may share a record: without a transaction, events may come again in other groups under other ids
 * and would be counted twice.
 */
export interface LogRecord {
  /** Unique in the family for the length of the deduplication window. */
  id: string;
  data: Uint8Array;
}
export interface StoredRecord extends LogRecord {
  /** Opaque; sorts as a string in log order inside one topic. */
  position: string;
  /** When it was appended, milliseconds since 1970. */
  time: number;
}
export interface Append {
  /** At most 500 characters. */
  topic: string;
  records: LogRecord[];
}
export interface AppendResult {
  /** Per record in order: its position, or undefined if the id was known inside the window and nothing was stored. */
  positions: (string | undefined)[];
}
export interface Delivery {
  record: StoredRecord;
  /** 1 on the first delivery, plus one for each `retryIn`. A redelivery after a crash does not count. */
  attempt: number;
  /** The state of the last `retryIn`. */
  state: unknown;
  /** Another process has stored the same id before: see `handsOutDuplicates`. */
  isDuplicate?: boolean;
  /**
   * Settles the record for this group. Resolves when that and `appends` are durable; `appends` are never stored after it. A second call
   * stores nothing and resolves.
   */
  ack(appends?: Append[]): Promise<void>;
  /** Delivers the record again to this group no sooner than `delayMs` from now, with `state`. Survives a restart. */
  retryIn(delayMs: number, state: unknown, appends?: Append[]): Promise<void>;
}
/** Stored together with acknowledgements; see the table above. */
export interface Alongside {
  appends: Append[];
  /** Makes further appends from the positions of the first ones. */
  derive?: (results: AppendResult[]) => Append[];
  /** Writes to another store. Called once. A store that shares the engine's transaction must start its write before it returns. */
  save?: () => Promise<unknown>;
}
export interface ConsumeOptions {
  /** Where a new group starts. An existing group continues where it was. */
  start: 'beginning' | Date;
  /** Limit of records handed out but not settled. */
  maxInFlight: number;
  /** Maximum number of records per call of `handle`. */
  maxBatch: number;
  /**
   * Deliver strictly in log order, to one consumer at a time. When the consumer starts, unsettled records are redelivered in order, and
   * records that were settled out of order above them may be delivered twice. Without it, unsettled records are redelivered in any order.
   * Results of its records are stored by settling them, and by nothing else.
   */
  ordered?: boolean;
  /** Delivers waiting retries at once, ignoring their delay. For a group whose owner is deleted, so that it can settle them. */
  skipRetryDelays?: boolean;
  /** Records for which it is false do not belong to the group: they are settled without being handed out. Not asked again for a retry. */
  includes?: (record: StoredRecord) => boolean;
  /**
   * The consumer collects records for a while before it reads them, so an engine need not keep new records in memory for it. If it is also
   * `ordered`, settling a record gives up the data of that record and of all before it.
   */
  readsLate?: boolean;
  /** Records with an id that another process has stored before are handed out, marked as such, and not just settled. */
  handsOutDuplicates?: boolean;
  /** What becomes of a record that comes again after a crash. Default: `seen`. */
  repeats?: Repeats;
}
/**
 * - `seen`: by a vendor, for example. An engine stores settlements as soon as it can.
 * - `dropped`: its results have the same ids. Under load an engine may store settlements up to a second later.
 * - `skipped`: the consumer knows itself what it has settled. An engine may store settlements without appends seconds after `ackAll` has
 *   resolved.
 */
export type Repeats = 'seen' | 'dropped' | 'skipped';
export interface Consumer {
  /** Resolves when the group is durable: it gets every record from its start on, also after a restart. */
  readonly started: Promise<void>;
  /** Why the group cannot be read; undefined once it has started. The start is retried. */
  readonly startError?: unknown;
  /** Resolves when the running `handle` has returned. Unsettled records are delivered again to the next consumer. */
  stop(): Promise<void>;
}
export interface ReadRange {
  /** Inclusive, by append time. */
  from?: Date;
  /** Exclusive. */
  to?: Date;
  /** Exclusive start position, in the direction of reading. */
  after?: string;
  limit: number;
  /** Newest first. */
  reverse?: boolean;
}
export type PackedRange = Pick<ReadRange, 'to' | 'after' | 'limit'>;
/** Data that `readPacked` gives away together: to pack it takes a fraction of a millisecond. */
export const PACKED_BYTES = 524_288;
/** The data of some records in one buffer, which the caller may give to another thread. */
export interface PackedRecords {
  bytes: Uint8Array<ArrayBuffer>;
  /** Where the data of each ends. */
  ends: number[];
  /** The position of the last one, which is the oldest. */
  oldest: string;
}
export interface EventLog {
  /** Resolves when durable. Throws `LogUnavailable` when the log cannot store now, and `RecordTooLarge` when it never can. */
  append(appends: Append[]): Promise<AppendResult[]>;
  /** Reads in advance what the first append to a topic of these families would have to wait for. */
  prepare?(families: readonly string[]): Promise<void>;
  /**
   * Acknowledges all deliveries. If a part of `alongside` cannot be stored, it rejects and acknowledges none; call it again then. Readers
   * and `lag` may see the result a fifth of a second after it resolves, later with `repeats`. If `atomic` is false, `lag` drops when the appends can be read.
   */
  ackAll(deliveries: readonly Delivery[], alongside?: Alongside): Promise<void>;
  /**
   * Calls `handle` again only after its promise has resolved. Records may be settled later, within `maxInFlight`. When `handle`
   * throws, it gets the batch again.
   */
  consume(topic: string, group: string, options: ConsumeOptions, handle: (batch: Delivery[]) => Promise<void>): Consumer;
  read(topic: string, range: ReadRange): AsyncIterable<StoredRecord>;
  /** The newest records before `to` and `after`, newest first. For thousands of them: an object for each costs more than to read it. */
  readPacked(topic: string, range: PackedRange): AsyncIterable<PackedRecords>;
  /** Undefined for an unknown topic or position, and for a text that is not a position. */
  get(topic: string, position: string): Promise<StoredRecord | undefined>;
  /** The same for each of several positions. */
  getMany(topic: string, positions: readonly string[]): Promise<(StoredRecord | undefined)[]>;
  /** Removes a group's state, or the whole topic with all its groups. */
  remove(topic: string, group?: string): Promise<void>;
  /** Removes records older than `before` that every group, except those in `ignoring`, has settled. Returns their number. */
  expire(topic: string, before: Date, ignoring?: string[]): Promise<number>;
  /**
   * Removes single records, for privacy. A record that a group has not settled stays: its position is returned, to try again later.
   * Positions without a record are ignored.
   */
  erase(topic: string, positions: readonly string[]): Promise<string[]>;
  /** The number of unsettled records, waiting retries included, and the time of the oldest. Zero for a group that never consumed. */
  lag(topic: string, group: string): Promise<{ waiting: number; oldest: number | undefined }>;
  topics(prefix: string): Promise<string[]>;
  groups(topic: string): Promise<string[]>;
  /** False while the log cannot store anything. */
  readonly available: boolean;
  /** `ackAll` acknowledges and stores in one transaction, so neither can be repeated. */
  readonly atomic: boolean;
  close(): Promise<void>;
}
/** This engine can never store a record of that size. */
export class RecordTooLarge extends Error {
  override name = 'RecordTooLarge';
}
/** The log cannot store, or cannot be read, now (disk full, broker unreachable). Respond with 503 and retry later. */
export class LogUnavailable extends Error {
  override name = 'LogUnavailable';
}
