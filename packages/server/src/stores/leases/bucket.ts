import { headers, type NatsConnection } from '@nats-io/transport-node';
import { JetStreamApi, JetStreamError, orNone, type StreamInfo } from '../event-log/jetstream/api.ts';

const NAME = 'firsthand-leases';
const STREAM = `KV_${NAME}`;
/** The server removes a key that is not rewritten within this time. */
export const LEASE_TTL_MS = 7_000;
const TIMEOUT_MS = 1_500;
/** NATS error code "wrong last sequence": another process wrote first. */
const WRONG_LAST = 10_071;

/**
 * The few operations that leases need, on a stream laid out like a NATS key-value bucket: one message per key, removed by the server when
 * it expires. A write names the revision it replaces, so only one of two concurrent writers succeeds.
 */
export class LeaseBucket {
  readonly #connection: NatsConnection;
  readonly #api: JetStreamApi;
  readonly #replicas: number;
  #made: Promise<void> | undefined;

  constructor(connection: NatsConnection, replicas: number) {
    this.#connection = connection;
    this.#api = new JetStreamApi(connection, TIMEOUT_MS);
    this.#replicas = replicas;
  }

  #ensure(): Promise<void> {
    this.#made ??= this.#create().catch((error) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }

  async #create(): Promise<void> {
    if (await orNone(this.#api.call(`STREAM.INFO.${STREAM}`))) return;
    await this.#api.call(`STREAM.CREATE.${STREAM}`, {
      name: STREAM,
      subjects: [`$KV.${NAME}.>`],
      retention: 'limits',
      storage: 'file',
      discard: 'new',
      num_replicas: this.#replicas,
      max_msgs_per_subject: 1,
      max_age: LEASE_TTL_MS * 1_000_000,
      duplicate_window: 1_000_000_000,
      max_bytes: -1,
      max_msgs: -1,
      max_consumers: -1,
      max_msg_size: -1,
      allow_rollup_hdrs: true,
      deny_delete: true,
    });
  }

  /**
   * Writes a key if its current revision is `revision` (0: the key does not exist). Returns the new revision, or undefined on a mismatch.
   */
  async write(key: string, value: string, revision: number): Promise<number | undefined> {
    await this.#ensure();
    const meta = headers();
    meta.set('Nats-Expected-Last-Subject-Sequence', String(revision));
    if (value === '') meta.set('KV-Operation', 'DEL');
    const reply = await this.#connection.request(`$KV.${NAME}.${key}`, value, { headers: meta, timeout: TIMEOUT_MS });
    const ack = JSON.parse(reply.string()) as { seq?: number; error?: { code: number; err_code: number; description: string } };
    if (ack.error?.err_code === WRONG_LAST) return undefined;
    if (ack.error || ack.seq === undefined)
      throw new JetStreamError('lease', ack.error ?? { code: 500, err_code: 0, description: 'no sequence' });
    return ack.seq;
  }

  /** The revision to pass to `write` to take the key, or undefined while another process holds it. */
  async free(key: string): Promise<number | undefined> {
    await this.#ensure();
    const found = await orNone(
      this.#api.call<{ message: { seq: number; data?: string } }>(`STREAM.MSG.GET.${STREAM}`, { last_by_subj: `$KV.${NAME}.${key}` }),
    );
    if (!found) return 0;
    return found.message.data ? undefined : found.message.seq;
  }

  /** The keys that begin with `prefix`. Released keys are included until they expire. */
  async keys(prefix: string): Promise<string[]> {
    await this.#ensure();
    const info = await this.#api.call<StreamInfo>(`STREAM.INFO.${STREAM}`, { subjects_filter: `$KV.${NAME}.${prefix}.>` });
    return Object.keys(info.state.subjects ?? {}).map((subject) => subject.slice(`$KV.${NAME}.`.length));
  }

  async purge(key: string): Promise<void> {
    await this.#api.call(`STREAM.PURGE.${STREAM}`, { filter: `$KV.${NAME}.${key}` });
  }

  close(): void {
    this.#made = undefined;
  }
}
