/**
 * The event log: topics of records, groups that read them. Two engines (LMDB, JetStream) pass one conformance suite.
 *
 * Topic names in use: `ingest.<partition>`, `events.<pipeline_id>`, `replay.<integration_id>`, `outcomes`,
 * `dlq-delivery-<integration_id>` (a JetStream subject of exactly that name). The part before the first dot or the
 * whole name is the topic's family; the deduplication window spans a family.
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
  topic: string;
  records: LogRecord[];
}
export interface AppendResult {
  /** Per record in order: its position, or undefined where the id was known inside the window and nothing was stored. */
  positions: (string | undefined)[];
}
export interface Delivery {
  record: StoredRecord;
  /** 1 on the first delivery, one more for each `retryIn`; a redelivery after a crash does not count. */
  attempt: number;
  /** What the last `retryIn` left. */
  state: unknown;
  /**
   * Settles the record for this group. `alongside` becomes durable with the acknowledgement where the engine can
   * (LMDB: one transaction, so that it cannot come twice), else before it, deduplicated by id like any append.
   */
  ack(alongside?: Append[]): Promise<void>;
  /** Delivers the record again to this group no sooner than `delayMs` from now, with `state`; survives a restart. */
  retryIn(delayMs: number, state: unknown, alongside?: Append[]): Promise<void>;
}
/** What becomes durable with many acknowledgements where the engine can (LMDB: one transaction), else before the first of them. */
export interface Alongside {
  appends: Append[];
  /** Further ones, made from the positions that the first got. */
  afterwards?: (results: AppendResult[]) => Append[];
  /** Another store's part. It is called once; where that store shares the engine it must begin to write before it returns. */
  meanwhile?: () => Promise<unknown>;
  /**
   * Whether it is enough that the death of the process cannot undo it: an engine may answer then, and be on disk a moment later. A power
   * cut in between brings the records again. Not together with `afterwards` or `meanwhile`.
   */
  soon?: boolean;
}
export interface ConsumeOptions {
  /** Where a group that does not exist yet begins. An existing group goes on where it was. */
  start: 'beginning' | Date;
  /** Most records handed out and not settled. */
  maxInFlight: number;
  /** Most records in one call of `handle`. */
  maxBatch: number;
  /**
   * One reader at a time, strictly in log order, also after a crash: when it starts, everything unsettled comes again in
   * order (what was settled out of order above it may come twice). Without it, unsettled records come again in any order.
   */
  ordered?: boolean;
}
export interface Consumer {
  /** Stops handing out; resolves when the running `handle` is done. What is unsettled is delivered again to the next consumer. */
  stop(): Promise<void>;
  /** From now on waiting retries are handed out whatever their time: for a group whose owner is gone, so that what waits can be ended. */
  hurry(): Promise<void>;
}
export interface ReadRange {
  from?: Date;
  to?: Date;
  /** Exclusive, in the direction of reading. */
  after?: string;
  limit: number;
  /** Newest first. */
  reverse?: boolean;
}
export interface EventLog {
  /** Resolves when durable. All topics of one call in one step where the engine can. Throws `LogUnavailable` where nothing could be stored. */
  append(appends: Append[]): Promise<AppendResult[]>;
  /**
   * Acknowledges them all. Rejects where something of `alongside` could not be stored: nothing is acknowledged then, and
   * the call may be made again, whatever of it was stored.
   */
  ackAll(deliveries: readonly Delivery[], alongside?: Alongside): Promise<void>;
  /** `handle` is called again only when its promise has resolved; records may be settled later than that, within `maxInFlight`. A `handle` that throws gets the batch again. */
  consume(topic: string, group: string, options: ConsumeOptions, handle: (batch: Delivery[]) => Promise<void>): Consumer;
  read(topic: string, range: ReadRange): AsyncIterable<StoredRecord>;
  get(topic: string, position: string): Promise<StoredRecord | undefined>;
  /** Removes a group's state, or the whole topic with all its groups. */
  remove(topic: string, group?: string): Promise<void>;
  /** Removes what is older than `before` and settled by every existing group of the topic, except the groups in `ignoring`. Gives the space back. */
  expire(topic: string, before: Date, ignoring?: string[]): Promise<number>;
  /** How many records the group has still to settle (waiting retries included), and the time of the oldest. */
  lag(topic: string, group: string): Promise<{ waiting: number; oldest: number | undefined }>;
  topics(prefix: string): Promise<string[]>;
  /** The groups that read a topic. */
  groups(topic: string): Promise<string[]>;
  /** False while nothing can be stored. */
  readonly available: boolean;
  /** Whether `ackAll` acknowledges and stores in one step: then nothing of it can come twice, and ids need not tell a repeat. */
  readonly atomic: boolean;
  close(): Promise<void>;
}
/** No log of this kind can take a record of that size, now or later. */
export class RecordTooLarge extends Error {
  override name = 'RecordTooLarge';
}
/** The log cannot take this now (disk full, broker away): answer 503, try later. */
export class LogUnavailable extends Error {
  override name = 'LogUnavailable';
}
