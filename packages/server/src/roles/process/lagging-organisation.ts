/**
 * An organisation whose backlog in a partition is longer than its share of memory. The partition's reader passes over its events, and this
 * reads them again with a cursor of its own: a group of the log. The name of the group holds all that a restart needs.
 *
 * The organisation's events from `first` on belong to this cursor; the reader acknowledges them without processing them. When the cursor has
 * caught up, the reader holds the next few events in memory until all earlier ones are durable. Then the group is removed, and the held events
 * follow: each event is processed once, in the order of the log.
 */
import { LAGGING_PREFIX } from '../../partition.ts';
import type { Consumer, Delivery, EventLog } from '../../stores/event-log/port.ts';
import { type RawRecord, readRawRecord } from './ingest-record.ts';
import type { VisitorLanes } from './visitor-lanes.ts';

export interface LaggingDeps {
  log: Pick<EventLog, 'consume' | 'ackAll' | 'remove'>;
  lanes: Pick<VisitorLanes, 'push' | 'begin' | 'changed' | 'isFull' | 'eventsOf'>;
  /** Repeats the attempt until it succeeds or the partition is released. Returns whether it succeeded. */
  persist(failure: string, attempt: () => Promise<unknown>): Promise<boolean>;
  /** The organisation's later events are the reader's again, these first. */
  onEnd(held: readonly RawRecord[]): void;
}

const MAX_IN_FLIGHT = 512;
const MAX_BATCH = 64;
/** Events that the reader holds while the cursor ends. With more, the organisation still lags. */
const MAX_HELD = 256;

export class LaggingOrganisation {
  readonly orgId: string;
  /** Position of the first event that belongs to this cursor. */
  readonly first: string;
  readonly group: string;
  /** Resolves when the group is durable: only then may the reader acknowledge what it leaves to this cursor. */
  readonly started: Promise<void>;
  readonly #topic: string;
  readonly #deps: LaggingDeps;
  readonly #consumer: Consumer;
  #state: 'behind' | 'closing' | 'ended' | 'stopped' = 'behind';
  /** The cursor may process events up to here: the reader has passed them. Empty until the reader has passed `first`. */
  #upTo = '';
  #readTo = '';
  /** The last event that the reader left to this cursor. */
  #lastOwn = '';
  #acknowledging = 0;
  #held: RawRecord[] = [];
  #isClosing = false;
  #wake: (() => void) | undefined;

  /** `time`: when `first` was appended. A group that exists continues where it was. */
  constructor(topic: string, { orgId, first, time }: { orgId: string; first: string; time: number }, deps: LaggingDeps) {
    this.#topic = topic;
    this.orgId = orgId;
    this.first = first;
    this.group = `${LAGGING_PREFIX}${orgId}.${first}`;
    this.#deps = deps;
    const how = { ordered: true, repeats: 'dropped' } as const;
    const options = { start: new Date(time), maxInFlight: MAX_IN_FLIGHT, maxBatch: MAX_BATCH, ...how } as const;
    this.#consumer = deps.log.consume(topic, this.group, options, (batch) => this.#take(batch));
    this.started = this.#consumer.started;
  }

  /** Undefined for a group of another kind. */
  static parse(group: string): { orgId: string; first: string; time: number } | undefined {
    const dot = group.lastIndexOf('.');
    if (!group.startsWith(LAGGING_PREFIX) || dot < LAGGING_PREFIX.length) return undefined;
    return { orgId: group.slice(LAGGING_PREFIX.length, dot), first: group.slice(dot + 1), time: 0 };
  }

  /** Called by the reader for each event of the organisation from `first` on. Returns the deliveries to acknowledge now. */
  leave(record: RawRecord): Delivery[] {
    const { position } = record.delivery.record;
    if (this.#state === 'behind') {
      this.#lastOwn = position;
      return [record.delivery];
    }
    this.#held.push(record);
    if (this.#state !== 'closing' || this.#held.length < MAX_HELD) return [];
    this.#state = 'behind';
    this.#lastOwn = position;
    return this.#held.splice(0).map(({ delivery }) => delivery);
  }
  /** Call around each acknowledgement of what `leave` returned. */
  acknowledging(difference: 1 | -1): void {
    this.#acknowledging += difference;
  }
  /** The reader has handled everything up to this position. */
  readerIsAt(position: string): void {
    if (this.#state !== 'behind' || position < this.first) return;
    // After a restart it is not known how far the reader had come.
    if (this.#upTo === '' && position > this.#lastOwn) this.#lastOwn = position;
    this.#upTo = position;
    this.#wakeUp();
    this.#closeIfCaughtUp();
  }

  /** Begins no further event. What is not begun stays unsettled for the next owner. */
  pause(): void {
    this.#state = 'stopped';
    this.#held = [];
    this.#wakeUp();
  }
  /** Call `pause` first. */
  async stop(): Promise<void> {
    await this.#consumer.stop();
  }

  async #take(batch: readonly Delivery[]): Promise<void> {
    let from = 0;
    for (let to = 0; to <= batch.length; to++) {
      const position = batch[to]?.record.position;
      if (position !== undefined && position <= this.#upTo) continue;
      if (!(await this.#handOver(batch.slice(from, to)))) return;
      from = to;
      this.#closeIfCaughtUp();
      while (position !== undefined && position > this.#upTo) {
        if (this.#isOver) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
  /** False where the cursor has ended: the rest stays unsettled. */
  async #handOver(batch: readonly Delivery[]): Promise<boolean> {
    if (batch.length === 0) return true;
    const own: RawRecord[] = [];
    const others: Delivery[] = [];
    for (const delivery of batch) {
      const record = readRawRecord(delivery, this.#topic);
      if (record?.envelope.org_id === this.orgId && delivery.record.position >= this.first) own.push(record);
      else others.push(delivery);
    }
    if (
      others.length > 0 &&
      !(await this.#deps.persist('events passed over not acknowledged, retrying', () => this.#deps.log.ackAll(others)))
    )
      return false;
    const { lanes } = this.#deps;
    for (const record of own) {
      while (lanes.isFull(this.orgId) && !this.#isOver) await lanes.changed();
      if (this.#isOver) return false;
      lanes.push(record);
      lanes.begin();
    }
    this.#readTo = batch.at(-1)?.record.position ?? this.#readTo;
    return true;
  }

  get #isOver(): boolean {
    return this.#state === 'ended' || this.#state === 'stopped';
  }
  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #closeIfCaughtUp(): void {
    if (this.#state !== 'behind' || this.#acknowledging > 0 || this.#lastOwn === '' || this.#readTo < this.#lastOwn) return;
    this.#state = 'closing';
    if (!this.#isClosing) void this.#close();
  }
  async #close(): Promise<void> {
    this.#isClosing = true;
    while (this.#state === 'closing' && this.#deps.lanes.eventsOf(this.orgId) > 0) await this.#deps.lanes.changed();
    this.#isClosing = false;
    if (this.#state !== 'closing') return;
    this.#state = 'ended';
    this.#wakeUp();
    await this.#consumer.stop();
    const removed = await this.#deps.persist('cursor of a lagging organisation not removed, retrying', () =>
      this.#deps.log.remove(this.#topic, this.group),
    );
    if (removed) this.#deps.onEnd(this.#held.splice(0));
  }
}
