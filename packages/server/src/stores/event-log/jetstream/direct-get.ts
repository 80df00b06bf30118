import { createInbox, headers, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { whenLate } from '../../../runtime/late.ts';
import { LogUnavailable } from '../port.ts';
import { type JetStreamApi, orNone } from './api.ts';
import { fromDirectGet, Message } from './message.ts';

const TIMEOUT_MS = 2_500;
const MOST_BYTES = 1_048_576;

export interface BatchRequest {
  /** First sequence to look at. */
  seq?: number;
  start_time?: string;
  next_by_subj: string;
  batch: number;
  /** Fewer than the server would send. */
  max_bytes?: number;
}

/**
 * Reads stored messages without a consumer. Any replica answers, and one that lags may return fewer messages. `leaderNext` asks the leader.
 */
export class DirectGet {
  readonly #connection: NatsConnection;
  readonly #api: JetStreamApi;

  constructor(connection: NatsConnection, api: JetStreamApi) {
    this.#connection = connection;
    this.#api = api;
  }

  /** `pending`: how many more match. */
  batch(stream: string, request: BatchRequest): Promise<{ messages: Message[]; pending: number }> {
    return new Promise((resolve, reject) => {
      const messages: Message[] = [];
      const inbox = createInbox();
      const finish = (error: Error | undefined, pending = 0) => {
        clearTimeout(late);
        subscription.unsubscribe();
        if (error) reject(error);
        else resolve({ messages, pending });
      };
      const late = whenLate(TIMEOUT_MS, () => finish(new LogUnavailable('JetStream does not answer')));
      const subscription = this.#connection.subscribe(inbox, {
        callback: (error, msg) => {
          if (error) return finish(new LogUnavailable(error.message, { cause: error }));
          const code = msg.headers?.code ?? 0;
          if (code === 0) messages.push(fromDirectGet(msg));
          else if (code === 204) finish(undefined, Number(msg.headers?.get('Nats-Num-Pending') ?? 0));
          else if (code === 404) finish(undefined);
          else finish(new LogUnavailable(`${stream} cannot be read: ${code} ${msg.headers?.description ?? ''}`));
        },
      });
      try {
        const body = JSON.stringify({ max_bytes: MOST_BYTES, ...request });
        this.#connection.publish(`$JS.API.DIRECT.GET.${stream}`, body, { reply: inbox });
      } catch (error) {
        finish(new LogUnavailable('the connection to NATS is closed', { cause: error }));
      }
    });
  }

  /** One message by its sequence, from any replica; where that has none, from the leader. */
  async get(stream: string, seq: number): Promise<Message | undefined> {
    let reply: Msg;
    try {
      reply = await this.#connection.request(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify({ seq }), { timeout: TIMEOUT_MS });
    } catch {
      return this.leaderGet(stream, { seq });
    }
    return (reply.headers?.code ?? 0) === 0 ? fromDirectGet(reply) : this.leaderGet(stream, { seq });
  }

  /** From the leader, which knows every stored message. */
  async leaderGet(stream: string, request: object): Promise<Message | undefined> {
    const found = await orNone(this.#api.call<{ message: ApiMessage }>(`STREAM.MSG.GET.${stream}`, request));
    return found && fromApi(found.message);
  }
}

interface ApiMessage {
  subject: string;
  seq: number;
  hdrs?: string;
  data?: string;
  time: string;
}
function fromApi({ subject, seq, hdrs, data, time }: ApiMessage): Message {
  return new Message({ subject, seq, time: Date.parse(time), headers: headersOf(hdrs), data: Buffer.from(data ?? '', 'base64') });
}
function headersOf(encoded: string | undefined): MsgHdrs | undefined {
  if (encoded === undefined) return undefined;
  const meta = headers();
  for (const line of Buffer.from(encoded, 'base64').toString('utf8').split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    if (colon > 0) meta.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return meta;
}
