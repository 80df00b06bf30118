import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { whenLate } from '../../../runtime/late.ts';
import { LogUnavailable } from '../port.ts';

interface Waiting {
  since: number;
  resolve(ack: PubAck): void;
  reject(error: Error): void;
}
export interface PubAck {
  seq: number;
  duplicate: boolean;
}

/** No stream captures the subject: the stream was removed, or is not available yet after a restart. Nothing was stored. */
export class NoStream extends LogUnavailable {}
/** The message may have been stored or may still be. Publish it again under the same `Nats-Msg-Id`. */
export class InDoubt extends LogUnavailable {}
/** Another message was written to the subject since the expected one. */
export class WrongLastSequence extends Error {}

const SWEEP_MS = 200;
const WRONG_LAST = 10_071;
/** The same message id is being stored at this moment. */
const IN_PROGRESS = /in ?(process|progress|flight)/i;

/**
 * Publishes to streams and waits until the server confirms that the message is stored. Messages are pipelined over one connection with one
 * inbox for all confirmations, at half the cost of a request per message.
 */
export class Publisher {
  readonly #connection: NatsConnection;
  readonly #inbox: string;
  readonly #waiting = new Map<string, Waiting>();
  readonly #timeoutMs: number;
  /** Runs while messages wait for a confirmation. */
  #sweep: NodeJS.Timeout | undefined;
  #counter = 0;
  /** Called with true for every stored message, with false when one was refused or not confirmed in time. */
  readonly #heard: (stored: boolean) => void;

  constructor(connection: NatsConnection, timeoutMs: number, heard: (stored: boolean) => void) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
    this.#heard = heard;
    this.#inbox = createInbox();
    connection.subscribe(`${this.#inbox}.*`, { callback: (_, msg) => this.#answer(msg) });
  }

  publish(subject: string, data: Uint8Array, meta: MsgHdrs | undefined): Promise<PubAck> {
    return new Promise((resolve, reject) => {
      if (this.#connection.isClosed()) return reject(new LogUnavailable('the connection is closed'));
      const token = (this.#counter++).toString(36);
      this.#waiting.set(token, { since: performance.now(), resolve, reject });
      this.#sweepSoon();
      try {
        this.#connection.publish(subject, data, { reply: `${this.#inbox}.${token}`, ...(meta && { headers: meta }) });
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
    const ack = JSON.parse(msg.string()) as { seq?: number; duplicate?: boolean; error?: { err_code: number; description: string } };
    if (ack.error?.err_code === WRONG_LAST) {
      waiting.reject(new WrongLastSequence(ack.error.description));
      return;
    }
    this.#heard(ack.error === undefined && ack.seq !== undefined);
    if (ack.error === undefined && ack.seq !== undefined) waiting.resolve({ seq: ack.seq, duplicate: ack.duplicate === true });
    else {
      const text = `not stored: ${ack.error?.description ?? 'no sequence'}`;
      waiting.reject(IN_PROGRESS.test(text) ? new InDoubt(text) : new LogUnavailable(text));
    }
  }

  #sweepSoon(): void {
    this.#sweep ??= whenLate(SWEEP_MS, () => this.#rejectLate()).unref();
  }
  #rejectLate(): void {
    this.#sweep = undefined;
    const limit = performance.now() - this.#timeoutMs;
    for (const [token, waiting] of this.#waiting) {
      if (waiting.since > limit) {
        this.#sweepSoon();
        return;
      }
      this.#waiting.delete(token);
      this.#heard(false);
      waiting.reject(new InDoubt(`not acknowledged within ${this.#timeoutMs} ms`));
    }
  }

  /** Call when the connection is lost: no confirmation will arrive for messages already sent. */
  rejectAll(reason: string): void {
    for (const waiting of this.#waiting.values()) waiting.reject(new InDoubt(reason));
    this.#waiting.clear();
  }

  close(): void {
    clearTimeout(this.#sweep);
    this.rejectAll('the log is closed');
  }
}
