import { createInbox, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';

/**
 * How long one pull request stays with the server: less than `ACK_WAIT_MS`. A server of 2.9 that has something to redeliver,
 * and finds only requests of a process that is gone, forgets it for another wait and sends its last message twice.
 */
const PULL_MS = 8_000;
const GRACE_MS = 1_000;

export interface Pulled {
  msg: Msg;
  /** Position in the stream. */
  seq: number;
  /** Position among what this consumer was sent: without gaps, unless something was lost on the way. */
  consumerSeq: number;
  time: number;
}

/**
 * Asks one durable consumer for messages, never for more than `room()` says. One request is open at a time; it ends when it
 * is filled, when the server says so, or when the connection was lost.
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
    /** The consumer does not exist any more. */
    onGone: () => void;
  }) {
    this.#connection = options.connection;
    this.#next = `$JS.API.CONSUMER.MSG.NEXT.${options.stream}.${options.durable}`;
    this.#room = options.room;
    this.#receive = options.receive;
    this.#onGone = options.onGone;
    this.#subscription = options.connection.subscribe(`${this.#inbox}.*`, { callback: (_, msg) => this.#take(msg) });
  }

  /** Asks for more where there is room and no request is open. */
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

  /** What was asked before is not answered any more. */
  askAnew(): void {
    this.#open = 0;
    this.ask();
  }

  #take(msg: Msg): void {
    if (this.#stopped) return;
    const code = msg.headers?.code;
    // The server's own words bear no subject to answer to; the client gives an empty one then.
    if (code !== undefined && code >= 400 && !msg.reply) {
      if (code === 409 && /consumer deleted/i.test(msg.headers?.description ?? '')) this.#onGone();
      // A word about an older request says nothing about this one.
      if (!msg.subject.endsWith(`.${this.#request}`)) return;
      this.#open = 0;
      // 404 and 408: nothing there, or the time is over. Others: too much asked, leader moved, nobody there. Not in a hurry then.
      if (code === 404 || code === 408) this.ask();
      else this.#askIn(code === 503 ? 500 : 250);
      return;
    }
    const pulled = parse(msg);
    if (!pulled) return;
    // A message bears its own subject, not that of the request; a late one for an older request does no harm here.
    if (this.#open > 0) this.#open--;
    this.#receive(pulled);
    if (this.#open === 0) this.ask();
  }

  /** True where the server holds a request that it may still answer. */
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

/** `$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<ns>.<pending>`, from 2.10 on with domain and account before the stream. */
function parse(msg: Msg): Pulled | undefined {
  const parts = (msg.reply ?? '').split('.');
  if (parts[0] !== '$JS') return undefined;
  const at = parts.length >= 11 ? 7 : 5;
  return { msg, seq: Number(parts[at]), consumerSeq: Number(parts[at + 1]), time: Math.floor(Number(parts[at + 2]!) / 1_000_000) };
}
