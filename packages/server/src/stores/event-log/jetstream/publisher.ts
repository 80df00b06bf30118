import { createInbox, headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { LogUnavailable } from '../port.ts';
import { ENCODING, pack } from './packing.ts';

interface Waiting {
  since: number;
  resolve(ack: PubAck): void;
  reject(error: Error): void;
}
export interface PubAck {
  seq: number;
  duplicate: boolean;
}

/** No stream captures the subject: the stream was removed, or is not available yet after a restart. */
export class NoStream extends LogUnavailable {}

const SWEEP_MS = 200;
const DEFAULT_MAX_PAYLOAD = 1_048_576;

/**
 * Publishes to streams and waits until the server confirms that the message is stored. Messages are pipelined over one connection with one
 * inbox for all confirmations, at half the cost of a request per message. Each record is its own message because the server deduplicates
 * per message; packing several records would move deduplication to every reader.
 */
export class Publisher {
  readonly #connection: NatsConnection;
  readonly #inbox: string;
  readonly #waiting = new Map<string, Waiting>();
  readonly #timeoutMs: number;
  readonly #sweep: NodeJS.Timeout;
  #counter = 0;
  /** Called with true for every stored message, with false when one was refused or not confirmed in time. */
  readonly #heard: (stored: boolean) => void;

  constructor(connection: NatsConnection, timeoutMs: number, heard: (stored: boolean) => void) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
    this.#heard = heard;
    this.#inbox = createInbox();
    connection.subscribe(`${this.#inbox}.*`, { callback: (_, msg) => this.#answer(msg) });
    this.#sweep = setInterval(() => this.#rejectLate(), SWEEP_MS).unref();
  }

  publish(subject: string, data: Uint8Array, id: string | undefined, more?: Record<string, string>): Promise<PubAck> {
    return new Promise((resolve, reject) => {
      if (this.#connection.isClosed()) return reject(new LogUnavailable('the connection is closed'));
      const packed = pack(data, this.#connection.info?.max_payload ?? DEFAULT_MAX_PAYLOAD);
      const token = (this.#counter++).toString(36);
      const meta = headers();
      if (packed.encoding !== undefined) meta.set(ENCODING, packed.encoding);
      if (id !== undefined) meta.set('Nats-Msg-Id', id);
      for (const [name, value] of Object.entries(more ?? {})) meta.set(name, value);
      this.#waiting.set(token, { since: performance.now(), resolve, reject });
      try {
        this.#connection.publish(subject, packed.data, { reply: `${this.#inbox}.${token}`, headers: meta });
      } catch (error) {
        this.#waiting.delete(token);
        reject(new LogUnavailable(`cannot publish: ${(error as Error).message}`, { cause: error }));
      }
    });
  }

  #answer(msg: Msg): void {
    const token = msg.subject.slice(this.#inbox.length + 1);
    const waiting = this.#waiting.get(token);
    if (!waiting) return;
    this.#waiting.delete(token);
    // No responders: no stream captures this subject, or JetStream is still starting.
    if (msg.data.length === 0) {
      waiting.reject(new NoStream(`no stream answers (${msg.headers?.code ?? 'empty'})`));
      return;
    }
    const ack = JSON.parse(msg.string()) as { seq?: number; duplicate?: boolean; error?: { description: string } };
    this.#heard(ack.error === undefined && ack.seq !== undefined);
    if (ack.error || ack.seq === undefined) waiting.reject(new LogUnavailable(`not stored: ${ack.error?.description ?? 'no sequence'}`));
    else waiting.resolve({ seq: ack.seq, duplicate: ack.duplicate === true });
  }

  #rejectLate(): void {
    const limit = performance.now() - this.#timeoutMs;
    for (const [token, waiting] of this.#waiting) {
      if (waiting.since > limit) return;
      this.#waiting.delete(token);
      this.#heard(false);
      waiting.reject(new LogUnavailable(`not acknowledged within ${this.#timeoutMs} ms`));
    }
  }

  /** Call when the connection is lost: no confirmation will arrive for messages already sent. */
  rejectAll(reason: string): void {
    for (const waiting of this.#waiting.values()) waiting.reject(new LogUnavailable(reason));
    this.#waiting.clear();
  }

  close(): void {
    clearInterval(this.#sweep);
    this.rejectAll('the log is closed');
  }
}
