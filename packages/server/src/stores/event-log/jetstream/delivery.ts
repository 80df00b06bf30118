import type { Append, Delivery, StoredRecord } from '../port.ts';
import { decodeId, positionOf } from './names.ts';
import { ENCODING, unpack } from './packing.ts';
import type { Pulled } from './pull.ts';

export type Source = 'topic' | 'retries';
export interface Retry {
  delayMs: number;
  state: unknown;
}
type Settle = (delivery: JetStreamDelivery, retry: Retry | undefined, alongside: Append[]) => Promise<void>;

/** One received message. A redelivery by the server changes only the reply subject. */
export class JetStreamDelivery implements Delivery {
  readonly source: Source;
  /** Sequence in the source stream. */
  readonly seq: number;
  readonly record: StoredRecord;
  readonly attempt: number;
  readonly state: unknown;
  /** Subject to acknowledge to. */
  reply: string;
  readonly #settle: Settle;
  #settling: Promise<void> | undefined;

  constructor(source: Source, pulled: Pulled, settle: Settle) {
    const { msg } = pulled;
    this.source = source;
    this.seq = pulled.seq;
    this.reply = msg.reply!;
    this.#settle = settle;
    if (source === 'topic') {
      this.record = {
        id: decodeId(msg.headers?.get('Nats-Msg-Id') ?? ''),
        data: unpack(msg.data, msg.headers?.get(ENCODING)),
        position: positionOf(pulled.seq),
        time: pulled.time,
      };
      this.attempt = 1;
      this.state = undefined;
    } else {
      const header = (name: string) => msg.headers?.get(name) ?? '';
      this.record = {
        id: decodeId(header(ID)),
        data: unpack(msg.data, header(ENCODING)),
        position: header(POSITION),
        time: Number(header(RECORD_TIME)),
      };
      this.attempt = Number(header(ATTEMPT));
      const state = header(STATE);
      this.state = state === '' ? undefined : JSON.parse(decodeURIComponent(state));
    }
  }

  get isSettling(): boolean {
    return this.#settling !== undefined;
  }
  ack(alongside: Append[] = []): Promise<void> {
    this.#settling ??= this.#settle(this, undefined, alongside);
    return this.#settling;
  }
  retryIn(delayMs: number, state: unknown, alongside: Append[] = []): Promise<void> {
    this.#settling ??= this.#settle(this, { delayMs, state }, alongside);
    return this.#settling;
  }
}

const ID = 'Firsthand-Id';
const POSITION = 'Firsthand-Position';
export const RECORD_TIME = 'Firsthand-Time';
const ATTEMPT = 'Firsthand-Attempt';
const STATE = 'Firsthand-State';
const DUE = 'Firsthand-Due';
const DELAY = 'Firsthand-Delay';

/** Headers that a waiting retry carries in addition to the record's data. */
export function retryHeaders(delivery: JetStreamDelivery, retry: Retry, now: number, encodedId: string): Record<string, string> {
  const delay = Math.max(0, Math.floor(retry.delayMs));
  return {
    [ID]: encodedId,
    [POSITION]: delivery.record.position,
    [RECORD_TIME]: String(delivery.record.time),
    [ATTEMPT]: String(delivery.attempt + 1),
    [DUE]: String(now + delay),
    [DELAY]: String(delay),
    ...(retry.state === undefined ? {} : { [STATE]: encodeURIComponent(JSON.stringify(retry.state)) }),
  };
}
/** Remaining delay of a retry. Never longer than the requested delay, even if the clock of the process that stored it was wrong. */
export function remainingMs({ msg }: Pulled, now: number): number {
  return Math.min(Number(msg.headers?.get(DUE) ?? 0) - now, Number(msg.headers?.get(DELAY) ?? 0));
}
