import { eventsTopic, replayTopic } from '../../event-record.ts';
import type { Consumer, Delivery, EventLog } from '../../stores/event-log/port.ts';

/** Most records in one hand-out. */
export const MAX_HANDED_OUT = 64;

export type Handle = (topic: string, deliveries: Delivery[], replay: boolean) => Promise<void>;
interface Source {
  id: string;
  pipelineId: string;
  createdAt: Date;
}

/** Where one integration's events come from: its pipeline, and its own replays once there are some. */
export class EventSource {
  readonly #log: EventLog;
  readonly #source: Source;
  readonly #handle: Handle;
  #running: Consumer[] = [];
  #maxInFlight = 0;
  #hurried = false;
  replaying = false;

  constructor(log: EventLog, source: Source, handle: Handle) {
    this.#log = log;
    this.#source = source;
    this.#handle = handle;
  }

  /** Whether they were begun for a window this large. An engine may fetch as much ahead, so that it is kept tight. */
  fit(window: number): boolean {
    return window + MAX_HANDED_OUT <= this.#maxInFlight;
  }
  begin(window: number): void {
    this.#maxInFlight = window + MAX_HANDED_OUT;
    this.#running = [];
    this.#consume(eventsTopic(this.#source.pipelineId), this.#source.createdAt, false);
    if (this.replaying) this.beginReplays();
  }
  beginReplays(): void {
    this.replaying = true;
    this.#consume(replayTopic(this.#source.id), 'beginning', true);
  }
  /** What waits for its time comes now, also from replays that are begun later. */
  async hurry(): Promise<void> {
    this.#hurried = true;
    await Promise.all(this.#running.map((consumer) => consumer.hurry()));
  }
  /** Nothing further is handed out from this moment on; resolves when the running hand-outs have returned. */
  async stop(): Promise<void> {
    await Promise.all(this.#running.map((consumer) => consumer.stop()));
  }

  async waiting(): Promise<{ waiting: number; oldest: number | undefined }> {
    const { id, pipelineId } = this.#source;
    const topics = this.replaying ? [eventsTopic(pipelineId), replayTopic(id)] : [eventsTopic(pipelineId)];
    const lags = await Promise.all(topics.map((topic) => this.#log.lag(topic, id)));
    const times = lags.flatMap(({ oldest }) => (oldest === undefined ? [] : [oldest]));
    return { waiting: lags.reduce((sum, lag) => sum + lag.waiting, 0), oldest: times.length === 0 ? undefined : Math.min(...times) };
  }
  async remove(): Promise<void> {
    await this.#log.remove(replayTopic(this.#source.id));
    await this.#log.remove(eventsTopic(this.#source.pipelineId), this.#source.id);
  }

  #consume(topic: string, start: 'beginning' | Date, replay: boolean): void {
    const options = { start, maxInFlight: this.#maxInFlight, maxBatch: MAX_HANDED_OUT };
    const consumer = this.#log.consume(topic, this.#source.id, options, (batch) => this.#handle(topic, batch, replay));
    this.#running.push(consumer);
    if (this.#hurried) void consumer.hurry();
  }
}
