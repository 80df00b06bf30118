import type { ConsumeOptions, Delivery } from '../port.ts';
import type { JetStreamDelivery } from './delivery.ts';

export interface DispatcherDeps {
  options: Pick<ConsumeOptions, 'maxBatch' | 'maxInFlight'>;
  handle(batch: Delivery[]): Promise<void>;
  /** Called when more deliveries may be added. */
  onRoom(): void;
  onError(error: unknown): void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Hands deliveries to the handler, one batch at a time. Pauses after a failure, then hands out again what was not settled. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  /** Not yet handed out. */
  #queue: JetStreamDelivery[] = [];
  /** Handed out, not yet settled. */
  readonly #out = new Set<JetStreamDelivery>();
  #running: Promise<void> | undefined;
  #pause: NodeJS.Timeout | undefined;
  #pauseMs = 0;
  #stopped = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  get hasRoom(): boolean {
    const { maxBatch, maxInFlight } = this.#deps.options;
    return this.#queue.length < maxBatch && this.#out.size < maxInFlight;
  }
  /** Whether results of a record that is not settled may be stored. */
  get mayHaveResults(): boolean {
    return this.#queue.some(({ mayHaveResults }) => mayHaveResults) || this.#out.values().some(({ mayHaveResults }) => mayHaveResults);
  }
  /** The batch that the handler has now. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  add(deliveries: readonly JetStreamDelivery[]): void {
    this.#queue.push(...deliveries);
    this.#pump();
  }
  settled(deliveries: readonly JetStreamDelivery[]): void {
    for (const delivery of deliveries) this.#out.delete(delivery);
    this.#pump();
    this.#deps.onRoom();
  }
  /** Forgets all deliveries: they belong to another consumer. */
  clear(): void {
    this.#queue = [];
    this.#out.clear();
  }
  /** Hands out nothing more. The batch that the handler has goes on. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#pause);
  }

  #pump(): void {
    if (this.#stopped || this.#running || this.#pause || this.#queue.length === 0) return;
    if (this.#out.size >= this.#deps.options.maxInFlight) return;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const { handle, onError, onRoom, options } = this.#deps;
    // Messages that arrived in one packet form one batch.
    await new Promise((resolve) => setImmediate(resolve));
    const room = Math.min(options.maxBatch, options.maxInFlight - this.#out.size);
    const batch = this.#stopped ? [] : this.#queue.splice(0, room);
    for (const delivery of batch) this.#out.add(delivery);
    try {
      if (batch.length > 0) await handle(batch);
      this.#pauseMs = 0;
    } catch (error) {
      onError(error);
      const again = batch.filter((delivery) => !delivery.isSettling && this.#out.has(delivery));
      for (const delivery of again) this.#out.delete(delivery);
      this.#queue.unshift(...again);
      this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
      this.#pause = setTimeout(() => {
        this.#pause = undefined;
        this.#pump();
      }, this.#pauseMs);
    } finally {
      this.#running = undefined;
      this.#pump();
      onRoom();
    }
  }
}
