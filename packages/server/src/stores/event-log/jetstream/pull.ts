import { createInbox, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';

/**
 * Lifetime of a pull request on the server; must be shorter than `ACK_WAIT_MS`. When a 2.9 server has a message to redeliver and finds
 * only pull requests of a dead process, it delays the redelivery by another ack wait and sends its last message twice.
 */
const PULL_MS = 8_000;
const GRACE_MS = 1_000;

export interface Pulled {
  msg: Msg;
  /** Sequence in the stream. */
  seq: number;
  /** Delivery sequence of this consumer. A gap means that a message was lost in transit. */
  consumerSeq: number;
  time: number;
}

/**
 * Pulls messages from one durable consumer, never more than `room()` allows. One request is open at a time. It ends when it is filled,
 * when the server ends it, or when the connection is lost.
 */
export class Pull {
  readonly #connection: NatsConnection;
  readonly #next: string;
  readonly #inbox = createInbox();
  readonly #subscription: Subscription;
  readonly #room: () => number;
  readonly #receive: (pulled: Pulled) => void;
  readonly #onGone: () => void;
  #open = 0;
  #request = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: {
    connection: NatsConnection;
    stream: string;
    durable: string;
    room: () => number;
    receive: (pulled: Pulled) => void;
    /** The consumer no longer exists. */
    onGone: () => void;
  }) {
    this.#connection = options.connection;
    this.#next = `$JS.API.CONSUMER.MSG.NEXT.${options.stream}.${options.durable}`;
    this.#room = options.room;
    this.#receive = options.receive;
    this.#onGone = options.onGone;
    this.#subscription = options.connection.subscribe(`${this.#inbox}.*`, { callback: (_, msg) => this.#take(msg) });
  }

  /** Sends a pull request if there is room and no request is open. */
  ask(): void {
    if (this.#stopped || this.#open > 0 || this.#connection.isClosed()) return;
    const room = this.#room();
    if (room <= 0) return;
    this.#open = room;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.askAnew(), PULL_MS + GRACE_MS);
    const body = JSON.stringify({ batch: room, expires: PULL_MS * 1_000_000 });
    this.#connection.publish(this.#next, body, { reply: `${this.#inbox}.${++this.#request}` });
  }

  /** Abandons the open request, which will not be answered any more, and sends a new one. */
  askAnew(): void {
    this.#open = 0;
    this.ask();
  }

  #take(msg: Msg): void {
    if (this.#stopped) return;
    const code = msg.headers?.code;
    // Status messages from the server have no reply subject; the client reports an empty string.
    if (code !== undefined && code >= 400 && !msg.reply) {
      if (code === 409 && /consumer deleted/i.test(msg.headers?.description ?? '')) this.#onGone();
      // Ignore a status of an older request.
      if (!msg.subject.endsWith(`.${this.#request}`)) return;
      this.#open = 0;
      // 404 and 408: no messages, or the request expired. Other codes (limit exceeded, leader moved, no responders): retry after a pause.
      if (code === 404 || code === 408) this.ask();
      else this.#askIn(code === 503 ? 500 : 250);
      return;
    }
    const pulled = parse(msg);
    if (!pulled) return;
    // A message carries its own subject, not the request's. A late message for an older request is harmless here.
    if (this.#open > 0) this.#open--;
    this.#receive(pulled);
    if (this.#open === 0) this.ask();
  }

  /** True while the server holds a request that it may still answer. */
  get isOpen(): boolean {
    return this.#open > 0;
  }

  #askIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.askAnew(), ms);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#subscription.unsubscribe();
  }
}

/**
 * `$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<ns>.<pending>`. Since 2.10, domain and account precede the stream.
 */
function parse(msg: Msg): Pulled | undefined {
  const parts = (msg.reply ?? '').split('.');
  if (parts[0] !== '$JS') return undefined;
  const at = parts.length >= 11 ? 7 : 5;
  return { msg, seq: Number(parts[at]), consumerSeq: Number(parts[at + 1]), time: Math.floor(Number(parts[at + 2]) / 1_000_000) };
}
