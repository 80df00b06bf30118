/** Reads only the headers of stored messages: enough to rebuild a deduplication window. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createInbox, type NatsConnection } from '@nats-io/transport-node';
import { LogUnavailable } from '../port.ts';
import { isNotFound, type JetStreamApi } from './api.ts';
import { ackInfo } from './message.ts';
import { hashesOf } from './record-batch.ts';

const CHUNK = 500;
const TIMEOUT_MS = 2_500;
const AGAIN_MS = 20;
const MOST_TRIES = 50;

class NoResponders extends LogUnavailable {}

export interface ScanOptions {
  stream: string;
  filters: readonly string[];
  /** Milliseconds since 1970. */
  since: number;
  /** Instead of `since`. */
  fromSeq?: number;
  /** Exclusive. */
  untilSeq?: number;
  /** Only the newest messages, about this many. */
  most?: number;
}
type Visit = (message: { seq: number; time: number; hashes: Buffer }) => void;

export class IdScanner {
  readonly #api: JetStreamApi;
  readonly #connection: NatsConnection;

  constructor(api: JetStreamApi, connection: NatsConnection) {
    this.#api = api;
    this.#connection = connection;
  }

  async scan(options: ScanOptions, visit: Visit): Promise<void> {
    const { fromSeq, since } = options;
    let consumer = await this.#create(
      options,
      fromSeq === undefined
        ? { deliver_policy: 'by_start_time', opt_start_time: new Date(since).toISOString() }
        : { deliver_policy: 'by_start_sequence', opt_start_seq: fromSeq },
    );
    if (consumer === undefined || consumer.num_pending === 0) return;
    if (options.most !== undefined && consumer.num_pending > options.most) {
      const info = await this.#api.streamInfo(options.stream);
      const start = Math.max(1, info.state.last_seq - options.most + 1);
      consumer = await this.#create(options, { deliver_policy: 'by_start_sequence', opt_start_seq: start });
    }
    if (consumer === undefined) return;
    let left = consumer.num_pending;
    const next = `$JS.API.CONSUMER.MSG.NEXT.${options.stream}.${consumer.name}`;
    while (left > 0) {
      const got = await this.#insist(() => this.#fetch(next, Math.min(CHUNK, left), options.untilSeq ?? Number.POSITIVE_INFINITY, visit));
      if (got === 0) break;
      left -= got;
    }
    // The server removes the consumer by itself after a few seconds.
    this.#connection.publish(`$JS.API.CONSUMER.DELETE.${options.stream}.${consumer.name}`);
  }

  async #create({ stream, filters }: ScanOptions, start: object): Promise<{ name: string; num_pending: number } | undefined> {
    try {
      return await this.#api.call<{ name: string; num_pending: number }>(`CONSUMER.CREATE.${stream}`, {
        stream_name: stream,
        config: {
          ...start,
          ...(filters.length === 1 ? { filter_subject: filters[0] } : { filter_subjects: filters }),
          headers_only: true,
          ack_policy: 'none',
          replay_policy: 'instant',
          inactive_threshold: 5_000_000_000,
          mem_storage: true,
          num_replicas: 1,
        },
      });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** In a cluster the other servers hear of a new consumer a moment after its creator. */
  async #insist(fetch: () => Promise<number>): Promise<number> {
    for (let tries = 1; ; tries++) {
      try {
        return await fetch();
      } catch (error) {
        if (!(error instanceof NoResponders) || tries === MOST_TRIES) throw error;
        await sleep(AGAIN_MS);
      }
    }
  }

  /** Returns 0 at the end. */
  #fetch(next: string, batch: number, untilSeq: number, visit: Visit): Promise<number> {
    return new Promise((resolve, reject) => {
      let got = 0;
      const inbox = createInbox();
      const finish = (error?: Error) => {
        clearTimeout(late);
        subscription.unsubscribe();
        if (error) reject(error);
        else resolve(got);
      };
      const late = setTimeout(() => finish(new LogUnavailable('JetStream does not answer')), TIMEOUT_MS);
      const subscription = this.#connection.subscribe(inbox, {
        callback: (error, msg) => {
          if (error) return finish(new LogUnavailable(error.message, { cause: error }));
          const info = ackInfo(msg);
          if (info === undefined) return msg.headers?.code === 503 ? finish(new NoResponders('JetStream does not answer')) : finish();
          if (info.seq >= untilSeq) {
            got = 0;
            return finish();
          }
          visit({ seq: info.seq, time: info.time, hashes: hashesOf(msg.headers) });
          if (++got === batch) finish();
        },
      });
      this.#connection.publish(next, JSON.stringify({ batch, no_wait: true }), { reply: inbox });
    });
  }
}
