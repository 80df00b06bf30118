import { errors, type NatsConnection } from '@nats-io/transport-node';
import { LogUnavailable } from '../port.ts';

/** The JetStream API as every supported server has it: JSON over request and reply. */
export class JetStreamApi {
  readonly #connection: NatsConnection;
  readonly #timeoutMs: number;

  constructor(connection: NatsConnection, timeoutMs: number) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
  }

  async call<T>(operation: string, body: unknown = {}): Promise<T> {
    let text: string;
    try {
      const reply = await this.#connection.request(`$JS.API.${operation}`, JSON.stringify(body), { timeout: this.#timeoutMs });
      text = reply.string();
    } catch (error) {
      if (error instanceof errors.InvalidArgumentError) throw error;
      throw new LogUnavailable(`JetStream does not answer: ${(error as Error).message}`, { cause: error });
    }
    const answer = JSON.parse(text) as { error?: ErrorAnswer };
    if (answer.error) throw failureOf(operation, answer.error);
    return answer as T;
  }

  /** The answer of the stream's leader. Without one any server of the stream answers, with as much as it happens to have read. */
  async streamInfo(stream: string, body: unknown = {}): Promise<StreamInfo> {
    const info = await this.call<StreamInfo>(`STREAM.INFO.${stream}`, body);
    if (info.cluster && !info.cluster.leader) throw new LogUnavailable(`the stream ${stream} has no leader`);
    return info;
  }
  /** In files and without limits, unless `more` says otherwise. */
  async createStream(name: string, subjects: readonly string[], num_replicas: number, more: object): Promise<void> {
    const limits = { max_age: 0, max_bytes: -1, max_msgs: -1, max_consumers: -1, max_msg_size: -1 };
    const config = { name, subjects, retention: 'limits', storage: 'file', discard: 'new', num_replicas, ...limits, ...more };
    await this.call(`STREAM.CREATE.${name}`, config);
  }
  /** A stream laid out like a NATS key-value bucket: one message per key, which stays for `max_age` nanoseconds. */
  async ensureBucket(name: string, num_replicas: number, max_age: number, more: object = {}): Promise<void> {
    const stream = `KV_${name}`;
    const known = await orNone(this.streamInfo(stream));
    if (known?.config.max_age === max_age) return;
    if (known) await this.call(`STREAM.UPDATE.${stream}`, { ...known.config, max_age });
    else {
      const keys = { max_msgs_per_subject: 1, max_age, duplicate_window: 1_000_000_000, allow_rollup_hdrs: true };
      await this.createStream(stream, [`$KV.${name}.>`], num_replicas, { ...keys, ...more });
    }
  }
}

interface ErrorAnswer {
  code: number;
  err_code: number;
  description: string;
}
const STREAM_OFFLINE = 10_118;
/** JetStream may answer although it cannot serve now: no leader, no space, too busy, or no server of the stream is up. */
export function failureOf(operation: string, answer: ErrorAnswer): LogUnavailable | JetStreamError {
  const error = new JetStreamError(operation, answer);
  return answer.code === 503 || answer.err_code === STREAM_OFFLINE ? new LogUnavailable(error.message, { cause: error }) : error;
}

export class JetStreamError extends Error {
  override name = 'JetStreamError';
  readonly code: number;
  readonly errCode: number;
  constructor(operation: string, error: ErrorAnswer) {
    super(`${operation}: ${error.description} (${error.err_code})`);
    this.code = error.code;
    this.errCode = error.err_code;
  }
}
export function isNotFound(error: unknown): boolean {
  return error instanceof JetStreamError && error.code === 404;
}
const SEQUENCE_NOT_FOUND = 10_043;
const MESSAGE_DELETE_FAILED = 10_057;
/** The message to delete is not there, or the whole stream. */
export function isGone(error: unknown): boolean {
  if (isNotFound(error)) return true;
  return (
    error instanceof JetStreamError &&
    (error.errCode === SEQUENCE_NOT_FOUND ||
      (error.errCode === MESSAGE_DELETE_FAILED && /not found|no message found|deleted message/.test(error.message)))
  );
}
/** Resolves with `undefined` when the requested object does not exist. */
export async function orNone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export interface StreamInfo {
  created: string;
  config: { name: string; subjects: string[]; max_age: number };
  /** Undefined where the server is not part of a cluster. */
  cluster?: { leader?: string };
  state: { messages: number; first_seq: number; last_seq: number; subjects?: Record<string, number> };
}
