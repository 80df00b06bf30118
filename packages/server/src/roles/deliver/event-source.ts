import { eventsTopic, replayTopic } from '../../event-record.ts';
import type { Consumer, Delivery, EventLog, StoredRecord } from '../../stores/event-log/port.ts';

/** Most records in one call of the handler. */
const MAX_HANDED_OUT = 64;

export type Handle = (topic: string, deliveries: Delivery[], replay: boolean) => Promise<void>;
interface Origin {
  id: string;
  /** The group that reads the events of the pipeline. */
  group: string;
  pipelineId: string;
  createdAt: Date;
}

/** Reads one integration's events: those of its pipeline, and its own replays once there are some. */
export class EventSource {
  readonly #log: EventLog;
  readonly #origin: Origin;
  readonly #handle: Handle;
  #consumers: Consumer[] = [];
  #maxInFlight = 0;
  #replaying = false;
  #skipsRetryDelays = false;
  #startedSkipping = false;
  #ordered = false;
  #startedOrdered = false;
  readonly #includes: ((record: StoredRecord) => boolean) | undefined;
  /** The consumers are stopping: the handler returns and leaves the rest of its batch unsettled. */
  closing = true;

  /** `includes`: the records of the pipeline that belong to the group. Default: all. */
  constructor(log: EventLog, origin: Origin, handle: Handle, includes: ((record: StoredRecord) => boolean) | undefined) {
    this.#includes = includes;
    this.#log = log;
    this.#origin = origin;
    this.#handle = handle;
  }

  /** False where the consumers must be restarted. Their limit stays tight, because an engine may fetch that much ahead. */
  fits(window: number): boolean {
    return (
      window + MAX_HANDED_OUT <= this.#maxInFlight &&
      this.#startedSkipping === this.#skipsRetryDelays &&
      this.#startedOrdered === this.#ordered
    );
  }
  start(window: number): void {
    this.#maxInFlight = window + MAX_HANDED_OUT;
    this.#startedSkipping = this.#skipsRetryDelays;
    this.#startedOrdered = this.#ordered;
    this.closing = false;
    this.#consume(eventsTopic(this.#origin.pipelineId), this.#origin.createdAt, false);
    if (this.#replaying) this.#consumeReplays();
  }
  /** Once started, replays are read for as long as the source is. */
  startReplays(): void {
    if (this.#replaying) return;
    this.#replaying = true;
    if (!this.closing) this.#consumeReplays();
  }
  /** From the next `start` on, unsettled events come again in log order. */
  keepOrder(ordered: boolean): void {
    this.#ordered = ordered;
  }
  /** From the next `start` on, waiting retries come at once. */
  skipRetryDelays(): void {
    this.#skipsRetryDelays = true;
  }
  /** Resolves when no handler runs. What is unsettled goes back to the log. */
  async stop(): Promise<void> {
    this.closing = true;
    await Promise.all(this.#consumers.splice(0).map((consumer) => consumer.stop()));
  }

  /** Why events or replays cannot be read; undefined where they are. */
  get startError(): unknown {
    return this.#consumers.find(({ startError }) => startError !== undefined)?.startError;
  }

  async waiting(): Promise<{ waiting: number; oldest: number | undefined }> {
    const { id } = this.#origin;
    const lags = await Promise.all([this.waitingEvents(), ...(this.#replaying ? [this.#log.lag(replayTopic(id), id)] : [])]);
    const times = lags.flatMap(({ oldest }) => (oldest === undefined ? [] : [oldest]));
    return { waiting: lags.reduce((sum, lag) => sum + lag.waiting, 0), oldest: times.length === 0 ? undefined : Math.min(...times) };
  }
  /** Without the replays. */
  waitingEvents(): Promise<{ waiting: number; oldest: number | undefined }> {
    return this.#log.lag(eventsTopic(this.#origin.pipelineId), this.#origin.group);
  }
  /** Removes the group and the replays from the log. */
  async remove(): Promise<void> {
    await this.#log.remove(replayTopic(this.#origin.id));
    await this.removeGroup();
  }
  async removeGroup(): Promise<void> {
    await this.#log.remove(eventsTopic(this.#origin.pipelineId), this.#origin.group);
  }

  #consumeReplays(): void {
    this.#consume(replayTopic(this.#origin.id), 'beginning', true);
  }
  #consume(topic: string, start: 'beginning' | Date, replay: boolean): void {
    const options = {
      start,
      maxInFlight: this.#maxInFlight,
      maxBatch: MAX_HANDED_OUT,
      skipRetryDelays: this.#skipsRetryDelays,
      ordered: this.#ordered,
      ...(this.#includes !== undefined && !replay && { includes: this.#includes }),
    };
    const group = replay ? this.#origin.id : this.#origin.group;
    this.#consumers.push(this.#log.consume(topic, group, options, (batch) => this.#handle(topic, batch, replay)));
  }
}
