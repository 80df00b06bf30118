/**
 * Sends batches in order, each as soon as the limits allow: requests in flight, answers that are not stored, the rate, the day's count. A
 * batch that has to wait, waits here in memory.
 */
import { atStep } from '../../runtime/stall-watch.ts';
import { turns } from '../../runtime/turns.ts';
import type { Batch } from './batcher.ts';
import type { WorkerDeps } from './deps.ts';
import type { Limiter } from './limiter.ts';
import { SendQueue } from './send-queue.ts';
import type { HeldEvent } from './settlement.ts';
import type { WorkerContext } from './worker-context.ts';

/** A wait until tomorrow is checked again now and then, because the wall clock may be changed. */
const MAX_WAIT_MS = 60_000;
const RELOAD_LIMITS_MS = 1_000;
/** Signing or compressing a larger request takes a turn of its own. */
const VERY_LARGE_REQUEST = 524_288;

/** A request with an answer. */
interface Answered {
  /** Its events whose settlement is not stored. */
  unstored: number;
}

export class SendPump {
  readonly #logger: WorkerDeps['logger'];
  readonly #context: Readonly<WorkerContext>;
  readonly #limiter: Limiter;
  readonly #queue: SendQueue;
  /** Calls `finished` when the request has its answer. */
  readonly #deliver: (batch: Batch) => Promise<void>;
  /** Requests at the vendor. */
  #inFlight = 0;
  /** Requests with an answer whose settlements are not all stored. Not sealed ones: their verdict is. */
  #unstored = 0;
  /** By event whose settlement is not stored: its request. */
  readonly #answered = new Map<HeldEvent, Answered>();
  #loadingLimits = false;
  #awaitsTurn = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    { logger }: Pick<WorkerDeps, 'logger'>,
    context: Readonly<WorkerContext>,
    limiter: Limiter,
    deliver: (batch: Batch) => Promise<void>,
  ) {
    this.#logger = logger;
    this.#context = context;
    this.#limiter = limiter;
    this.#queue = new SendQueue(limiter);
    this.#deliver = deliver;
  }

  get inFlight(): number {
    return this.#inFlight;
  }
  /** Nothing is in flight, and nothing waits for a limit. */
  get idle(): boolean {
    return this.#inFlight === 0 && this.#queue.empty;
  }

  send(batches: readonly Batch[]): void {
    if (batches.length === 0) return;
    for (const batch of batches) this.#queue.push(batch);
    this.#pump();
  }
  /** The request has its answer, or was given up. `again`: what of it is sent anew. */
  finished(again: readonly Batch[]): void {
    this.#inFlight--;
    for (const batch of again) this.#queue.push(batch);
    this.#pump();
  }
  /** Events of one request whose settlements are on their way to the log. They count as unstored until `stored`. */
  settling(events: readonly HeldEvent[]): void {
    if (events.length === 0) return;
    const answered = { unstored: events.length };
    for (const held of events) this.#answered.set(held, answered);
    this.#unstored++;
  }
  stored(settled: readonly { held: HeldEvent }[]): void {
    for (const { held } of settled) {
      const answered = this.#answered.get(held);
      if (answered === undefined) continue;
      this.#answered.delete(held);
      if (--answered.unstored === 0) this.#unstored--;
    }
    this.#pump();
  }
  /** Call when the limits may have changed. */
  reconsider(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pump();
  }
  /** Removes and returns the batches that are not sent. */
  takeAll(): Batch[] {
    return this.#queue.takeAll();
  }
  stop(): void {
    clearTimeout(this.#timer);
    this.#queue.takeAll();
  }

  /** Sends every batch that the limits allow now. */
  #pump(hasTurn = false): void {
    const { life, lane } = this.#context;
    let mayBuild = hasTurn;
    while (life.active) {
      const isVeryLarge = this.#queue.nextBytes > VERY_LARGE_REQUEST;
      if (isVeryLarge && !mayBuild && this.#awaitTurn()) return;
      const next = this.#queue.next(this.#inFlight, this.#unstored, lane);
      if (next.kind === 'send') {
        this.#inFlight++;
        void this.#deliver(next.batch);
        if (isVeryLarge) turns.tookLong();
        mayBuild = false;
      } else {
        if (next.kind === 'wait') this.#pumpIn(next.ms);
        else if (next.kind === 'load_limits') void this.#loadLimits();
        return;
      }
    }
  }
  /** A very large request is built in a turn of its own. It keeps its place, and the batches behind it wait. False: now. */
  #awaitTurn(): boolean {
    if (this.#awaitsTurn) return true;
    const turn = turns.next();
    if (turn === undefined) return false;
    this.#awaitsTurn = true;
    void turn.then(() => {
      this.#awaitsTurn = false;
      atStep('send', this.#context.id);
      this.#pump(true);
    });
    return true;
  }
  #pumpIn(ms: number): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#pump();
      },
      Math.min(Math.ceil(ms), MAX_WAIT_MS),
    );
  }
  async #loadLimits(): Promise<void> {
    if (this.#loadingLimits) return;
    this.#loadingLimits = true;
    try {
      await this.#limiter.load();
    } catch (error) {
      this.#logger.warn({ err: error, integration_id: this.#context.id }, 'daily request count not readable, retrying');
      await pause(RELOAD_LIMITS_MS);
    }
    this.#loadingLimits = false;
    this.#pump();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
