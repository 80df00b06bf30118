import { createInbox, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { LogUnavailable } from '../port.ts';
import { type JetStreamApi, orNone } from './api.ts';
import { fromConsumer, type Message } from './message.ts';
import type { TopicFeed } from './topic-feed.ts';

export interface TailDeps {
  connection: NatsConnection;
  api: JetStreamApi;
  onMessage(feed: TopicFeed, message: Message): void;
  onError(error: unknown): void;
}

const HEARTBEAT_MS = 1_000;
const SILENT_MS = 2_500;
const AGAIN_MS = 250;
/** Topics that open within this time share one restart. Those that open during a restart may be many: the next one waits longer. */
const GATHER_MS = 3;
const GATHER_MANY_MS = 50;
/** With more topics, the server sends the whole stream. */
const MOST_FILTERS = 1_000;

/**
 * Follows the end of one stream for all topics that this process reads: one ephemeral consumer in the server's memory, with flow control.
 * The server numbers its messages. After a gap, a silence or a lost connection the tail starts again behind the last message it has seen,
 * so every topic stays complete and in order.
 */
export class Tail {
  readonly #stream: string;
  readonly #deps: TailDeps;
  readonly #feeds = new Map<string, TopicFeed>();
  /** Not covered by a consumer yet. */
  readonly #opening = new Set<TopicFeed>();
  #subscription: Subscription | undefined;
  /** The consumer's name on the server. */
  #consumer = '';
  /** The next sequence to receive. Undefined until the first start. */
  #next: number | undefined;
  #consumerSeq = 0;
  #heardAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #starting: Promise<void> | undefined;
  #again = false;
  #closed = false;

  constructor(stream: string, deps: TailDeps) {
    this.#stream = stream;
    this.#deps = deps;
  }

  /** Call about twice a second: starts again after a silence. */
  watch(): void {
    if (this.#subscription && performance.now() - this.#heardAt > SILENT_MS) this.restart();
  }

  add(feed: TopicFeed): void {
    this.#feeds.set(feed.place.subject, feed);
    this.#opening.add(feed);
    this.#timer ??= setTimeout(() => this.restart(), GATHER_MS);
  }
  remove(feed: TopicFeed): void {
    if (this.#feeds.get(feed.place.subject) === feed) this.#feeds.delete(feed.place.subject);
    this.#opening.delete(feed);
    if (this.#feeds.size > 0) return;
    this.#drop();
    this.#next = undefined;
  }

  /** Starts a new consumer behind the last message seen. */
  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#closed) return;
    if (this.#starting) {
      this.#again = true;
      return;
    }
    this.#starting = this.#start()
      .catch((error: unknown) => {
        if (!(error instanceof LogUnavailable)) this.#deps.onError(error);
        this.#timer ??= setTimeout(() => this.restart(), AGAIN_MS);
      })
      .finally(() => {
        this.#starting = undefined;
        if (!this.#again) return;
        this.#again = false;
        this.#timer ??= setTimeout(() => this.restart(), GATHER_MANY_MS);
      });
  }

  async #start(): Promise<void> {
    this.#drop();
    if (this.#feeds.size === 0) return;
    const { api, connection } = this.#deps;
    const info = await orNone(api.streamInfo(this.#stream));
    if (info === undefined) throw new LogUnavailable(`the stream ${this.#stream} is gone`);
    this.#next ??= info.state.last_seq + 1;
    const filters = [...this.#feeds.keys()];
    const opening = [...this.#opening];
    for (const feed of opening) if (feed.coveredFrom === undefined) feed.cover(info.state.last_seq + 1, Date.parse(info.created));
    const inbox = createInbox();
    this.#consumerSeq = 0;
    this.#heardAt = performance.now();
    const subscription = connection.subscribe(inbox, { callback: (_, msg) => this.#receive(subscription, msg) });
    this.#subscription = subscription;
    const from = this.#next;
    const { name } = await api.call<{ name: string }>(`CONSUMER.CREATE.${this.#stream}`, {
      stream_name: this.#stream,
      config: {
        deliver_policy: 'by_start_sequence',
        opt_start_seq: from,
        ...filterOf(filters),
        deliver_subject: inbox,
        ack_policy: 'none',
        max_deliver: 1,
        replay_policy: 'instant',
        flow_control: true,
        idle_heartbeat: HEARTBEAT_MS * 1_000_000,
        mem_storage: true,
        num_replicas: 1,
      },
    });
    this.#consumer = name;
    for (const feed of opening) {
      this.#opening.delete(feed);
      feed.covered();
    }
  }

  #receive(subscription: Subscription, msg: Msg): void {
    if (subscription !== this.#subscription) return;
    this.#heardAt = performance.now();
    const received = fromConsumer(msg);
    if (received === undefined) this.#status(msg);
    else if (received.consumerSeq !== this.#consumerSeq + 1) this.restart();
    else {
      this.#consumerSeq++;
      this.#take(received.message);
    }
  }

  #take(message: Message): void {
    if (message.seq < (this.#next ?? 0)) return;
    this.#next = message.seq + 1;
    const feed = this.#feeds.get(message.subject);
    if (feed) this.#deps.onMessage(feed, message);
  }

  /** A heartbeat names the last message that the server has sent; flow control wants an answer. */
  #status(msg: Msg): void {
    const stalled = msg.headers?.get('Nats-Consumer-Stalled');
    if (msg.reply) this.#deps.connection.publish(msg.reply);
    else if (stalled) this.#deps.connection.publish(stalled);
    const last = msg.headers?.get('Nats-Last-Consumer');
    if (last && Number(last) > this.#consumerSeq) this.restart();
  }

  #drop(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
    const { connection } = this.#deps;
    if (this.#consumer !== '' && !connection.isClosed()) connection.publish(`$JS.API.CONSUMER.DELETE.${this.#stream}.${this.#consumer}`);
    this.#consumer = '';
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#drop();
  }
}

function filterOf(filters: string[]): object {
  if (filters.length > MOST_FILTERS) return {};
  return filters.length === 1 ? { filter_subject: filters[0] } : { filter_subjects: filters };
}
