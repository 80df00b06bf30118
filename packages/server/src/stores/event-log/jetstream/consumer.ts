import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Append, ConsumeOptions, Consumer, Delivery } from '../port.ts';
import { JetStreamDelivery, type Retry, remainingMs, retryHeaders, type Source } from './delivery.ts';
import { ACK_WAIT_MS, type Durable, type Durables } from './durables.ts';
import { encodeId, retrySubject } from './names.ts';
import type { PubAck } from './publisher.ts';
import { Pull, type Pulled } from './pull.ts';

export interface ConsumerDeps {
  connection: NatsConnection;
  durables: Durables;
  now(): number;
  append(appends: Append[]): Promise<unknown>;
  publish(subject: string, data: Uint8Array, id: string, headers: Record<string, string>): Promise<PubAck>;
  /** Retries `work` while the broker is unavailable. Rejects when the log is closed, or with an error that a retry cannot fix. */
  persist<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when the server has received everything sent so far. */
  flushed(): Promise<void>;
  onError(error: unknown): void;
  onStopped(consumer: JetStreamConsumer): void;
}

const ALIVE_MS = ACK_WAIT_MS / 3;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const BEGIN_AGAIN_MS = 250;
const MOST_ASKED = 1_000;
const MOST_REMEMBERED = 50_000;

export class JetStreamConsumer implements Consumer {
  readonly #topic: string;
  readonly #group: string;
  readonly #options: ConsumeOptions;
  readonly #handle: (batch: Delivery[]) => Promise<void>;
  readonly #deps: ConsumerDeps;
  readonly #pulls = new Map<Source, Pull>();
  /** Received, not yet handed out. */
  #queue: JetStreamDelivery[] = [];
  /** Queued deliveries per source. */
  readonly #queued: Record<Source, number> = { topic: 0, retries: 0 };
  /** All unsettled deliveries: queued and handed out. */
  readonly #held = new Map<string, JetStreamDelivery>();
  /** Recently settled. The server may redeliver these when our acknowledgement was lost with a connection. */
  readonly #done = new Set<string>();
  readonly #alive: NodeJS.Timeout;
  #setUp: Promise<void>;
  readonly started: Promise<void>;
  #running: Promise<void> | undefined;
  #pause: NodeJS.Timeout | undefined;
  #pauseMs = 0;
  #stopped = false;

  constructor(topic: string, group: string, options: ConsumeOptions, handle: (batch: Delivery[]) => Promise<void>, deps: ConsumerDeps) {
    this.#topic = topic;
    this.#group = group;
    this.#options = options;
    this.#handle = handle;
    this.#deps = deps;
    this.#alive = setInterval(() => this.#sayAlive(), ALIVE_MS).unref();
    this.#setUp = this.#begin();
    this.started = this.#setUp;
  }

  /** Retries after any error: a reader that gave up would leave its topic unread without anybody noticing. */
  async #begin(): Promise<void> {
    while (!(await this.#beginOnce()) && !this.#deps.connection.isClosed()) await sleep(BEGIN_AGAIN_MS);
  }

  /** Returns false when the start must be retried. */
  async #beginOnce(): Promise<boolean> {
    try {
      const { topic, retries } = await this.#deps.persist(() => {
        if (this.#stopped) throw new Stopped();
        return this.#deps.durables.open(this.#topic, this.#group, this.#options);
      });
      if (this.#stopped) return true;
      this.#startPull('topic', topic);
      if (!this.#pulls.has('retries')) this.#startPull('retries', retries);
      return true;
    } catch (error) {
      if (error instanceof Stopped || this.#stopped) return true;
      this.#deps.onError(error);
      return false;
    }
  }

  #startPull(source: Source, durable: Durable): void {
    this.#pulls.get(source)?.stop();
    const pull = new Pull({
      connection: this.#deps.connection,
      ...durable,
      room: () => this.#room(source),
      receive: (pulled) => this.#receive(source, pulled),
      onGone: () => this.#deps.onError(new Error(`the consumer ${durable.durable} was removed`)),
    });
    this.#pulls.set(source, pull);
    pull.ask();
  }

  #room(source: Source): number {
    return Math.min(MOST_ASKED, this.#options.maxInFlight - this.#handedOut - this.#queued[source]);
  }
  get #handedOut(): number {
    return this.#held.size - this.#queue.length;
  }

  /** Called after a reconnect. Messages in transit are lost; an ordered reader restarts after the last record settled without a gap. */
  reconnected(): void {
    if (this.#stopped) return;
    if (this.#options.ordered) {
      for (const delivery of this.#queue) if (delivery.source === 'topic') this.#held.delete(keyOf(delivery));
      this.#queue = this.#queue.filter((delivery) => delivery.source === 'retries');
      this.#queued.topic = 0;
      this.#pulls.get('topic')?.stop();
      this.#setUp = this.#setUp.then(() => this.#begin());
    }
    for (const pull of this.#pulls.values()) pull.askAnew();
  }

  #receive(source: Source, pulled: Pulled): void {
    const key = `${source}${pulled.seq}`;
    if (this.#done.has(key)) {
      this.#send(pulled.msg.reply!, '+ACK');
      return;
    }
    const known = this.#held.get(key);
    if (known) {
      known.reply = pulled.msg.reply!;
      return;
    }
    if (source === 'retries' && !this.#options.skipRetryDelays) {
      const remaining = remainingMs(pulled, this.#deps.now());
      if (remaining > 0) {
        this.#send(pulled.msg.reply!, `-NAK {"delay": ${Math.ceil(remaining) * 1_000_000}}`);
        return;
      }
    }
    const delivery = new JetStreamDelivery(source, pulled, (settled, retry, alongside) => this.#settle(settled, retry, alongside));
    this.#queue.push(delivery);
    this.#queued[source]++;
    this.#held.set(key, delivery);
    this.#pump();
  }

  #pump(): void {
    if (this.#stopped || this.#running || this.#pause || this.#queue.length === 0) return;
    const room = Math.min(this.#options.maxBatch, this.#options.maxInFlight - this.#handedOut);
    if (room <= 0) return;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    // Messages that arrived in one packet form one batch.
    await new Promise((resolve) => setImmediate(resolve));
    const room = Math.min(this.#options.maxBatch, this.#options.maxInFlight - this.#handedOut);
    const batch = this.#stopped ? [] : this.#queue.splice(0, room);
    for (const delivery of batch) this.#queued[delivery.source]--;
    try {
      if (batch.length > 0) await this.#handle(batch);
      this.#pauseMs = 0;
    } catch (error) {
      this.#deps.onError(error);
      const again = batch.filter((delivery) => !delivery.isSettling);
      for (const delivery of again) this.#queued[delivery.source]++;
      this.#queue.unshift(...again);
      this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
      this.#pause = setTimeout(() => {
        this.#pause = undefined;
        this.#pump();
      }, this.#pauseMs);
    } finally {
      this.#running = undefined;
      this.#askForMore();
      this.#pump();
    }
  }

  async #settle(delivery: JetStreamDelivery, retry: Retry | undefined, alongside: Append[]): Promise<void> {
    const deps = this.#deps;
    // Store the appends first, then acknowledge. Record ids make a repeat harmless.
    if (alongside.length > 0) await deps.persist(() => deps.append(alongside));
    if (retry) {
      const id = `${this.#topic}~${this.#group}~${delivery.record.position}~${delivery.attempt}`;
      const headers = retryHeaders(delivery, retry, deps.now(), encodeId(delivery.record.id));
      await deps.persist(() => deps.publish(retrySubject(this.#topic, this.#group), delivery.record.data, encodeId(id), headers));
    }
    const key = keyOf(delivery);
    this.#remember(key);
    await deps.persist(() => {
      this.#send(delivery.reply, '+ACK');
      return deps.flushed();
    });
    this.#held.delete(key);
    this.#askForMore();
    this.#pump();
  }

  #remember(key: string): void {
    this.#done.add(key);
    if (this.#done.size > MOST_REMEMBERED) for (const oldest of this.#done) return void this.#done.delete(oldest);
  }

  #askForMore(): void {
    for (const pull of this.#pulls.values()) pull.ask();
  }

  #send(subject: string, text: string): void {
    if (!this.#deps.connection.isClosed()) this.#deps.connection.publish(subject, text);
  }

  #sayAlive(): void {
    for (const delivery of this.#held.values()) this.#send(delivery.reply, '+WPI');
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#pause);
    await this.#setUp;
    for (const pull of this.#pulls.values()) pull.stop();
    await this.#running;
    clearInterval(this.#alive);
    // NAK held messages so that another consumer gets them at once. Not while our pull request is open, because the server would redeliver
    // to it; the ack wait expires soon anyway.
    for (const delivery of this.#held.values())
      if (!delivery.isSettling && !this.#pulls.get(delivery.source)?.isOpen) this.#send(delivery.reply, '-NAK');
    this.#queue = [];
    this.#deps.onStopped(this);
  }
}

class Stopped extends Error {}
function keyOf(delivery: JetStreamDelivery): string {
  return delivery.source + delivery.seq;
}
