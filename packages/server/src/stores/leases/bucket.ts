import { headers, type NatsConnection } from '@nats-io/transport-node';
import { failureOf, JetStreamApi, orNone } from '../event-log/jetstream/api.ts';
import { LogUnavailable } from '../event-log/port.ts';

/** Processes. A key expires. */
const MEMBERS = 'firsthand-leases';
/** Owners of names. A key stays. */
const OWNERS = 'firsthand-owners';
const RELEASED = 'firsthand-released';
/** The server removes a key that is not rewritten within this time. */
export const LEASE_TTL_MS = 5_500;
const TIMEOUT_MS = 1_500;
/** NATS error code "wrong last sequence": another process wrote first. */
const WRONG_LAST = 10_071;

/**
 * The few operations that leases need, on two streams laid out like NATS key-value buckets: one message per key. A process renews its own key
 * only, however many names it owns. A write names the revision it replaces, so only one of two concurrent writers succeeds.
 */
export class LeaseBucket {
  readonly #connection: NatsConnection;
  readonly #api: JetStreamApi;
  readonly #replicas: number;
  #made: Promise<unknown> | undefined;

  constructor(connection: NatsConnection, replicas: number) {
    this.#connection = connection;
    this.#api = new JetStreamApi(connection, TIMEOUT_MS);
    this.#replicas = replicas;
  }

  #ensure(): Promise<unknown> {
    this.#made ??= Promise.all([this.#create(MEMBERS, LEASE_TTL_MS), this.#create(OWNERS, 0)]).catch((error) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }

  #create(bucket: string, keptMs: number): Promise<void> {
    return this.#api.ensureBucket(bucket, this.#replicas, keptMs * 1_000_000, { deny_delete: true });
  }

  /** Renews the key of a process. Returns the new revision, or undefined if the current one is not `revision` (0: the key does not exist). */
  writeMember(key: string, revision: number): Promise<number | undefined> {
    return this.#write(MEMBERS, key, 'alive', revision);
  }
  /** Sets the owner of a name; an empty one releases it. Returns undefined if another process wrote first. */
  writeOwner(key: string, owner: string, revision: number): Promise<number | undefined> {
    return this.#write(OWNERS, key, owner, revision);
  }
  async #write(bucket: string, key: string, value: string, revision: number): Promise<number | undefined> {
    await this.#ensure();
    const meta = headers();
    meta.set('Nats-Expected-Last-Subject-Sequence', String(revision));
    if (value === '') meta.set('KV-Operation', 'DEL');
    const reply = await this.#connection.request(`$KV.${bucket}.${key}`, value, { headers: meta, timeout: TIMEOUT_MS });
    const ack = JSON.parse(reply.string()) as { seq?: number; error?: { code: number; err_code: number; description: string } };
    if (ack.error?.err_code === WRONG_LAST) return undefined;
    if (ack.error || ack.seq === undefined) throw failureOf('lease', ack.error ?? { code: 500, err_code: 0, description: 'no sequence' });
    return ack.seq;
  }

  /** The current revision of a process's key; undefined where it has expired. */
  async memberRevision(key: string): Promise<number | undefined> {
    return (await this.#read(MEMBERS, key))?.seq;
  }
  /** The owner of a name, empty where it has none, and the revision to pass to `writeOwner`. */
  async owner(key: string): Promise<{ owner: string; revision: number }> {
    const found = await this.#read(OWNERS, key);
    return { owner: Buffer.from(found?.data ?? '', 'base64').toString(), revision: found?.seq ?? 0 };
  }
  async #read(bucket: string, key: string): Promise<{ seq: number; data?: string } | undefined> {
    await this.#ensure();
    type Found = { message: { seq: number; data?: string } };
    const found = await orNone(this.#api.call<Found>(`STREAM.MSG.GET.KV_${bucket}`, { last_by_subj: `$KV.${bucket}.${key}` }));
    return found?.message;
  }

  /**
   * The processes with a key that begins with `prefix`, by the last part of the key. `since`: a revision that the answer must know. A server that
   * was frozen believes for a moment that it still leads, and that every process it has not heard of is dead.
   */
  async members(prefix: string, since: number): Promise<Set<string>> {
    await this.#ensure();
    const info = await this.#api.streamInfo(`KV_${MEMBERS}`, { subjects_filter: `$KV.${MEMBERS}.${prefix}.>` });
    if (info.state.last_seq < since) throw new LogUnavailable('the list of processes is out of date');
    return new Set(Object.keys(info.state.subjects ?? {}).map((subject) => subject.slice(subject.lastIndexOf('.') + 1)));
  }
  async purgeMember(key: string): Promise<void> {
    await this.#api.call(`STREAM.PURGE.KV_${MEMBERS}`, { filter: `$KV.${MEMBERS}.${key}` });
  }

  /** Tells the other processes that names of a set were released, or that a process has joined. A message that is lost costs them a turn. */
  announce(set: string): void {
    if (!this.#connection.isClosed()) this.#connection.publish(`${RELEASED}.${set}`);
  }
  onReleased(set: string, listener: () => void): { unsubscribe(): void } {
    return this.#connection.subscribe(`${RELEASED}.${set}`, { callback: listener });
  }

  close(): void {
    this.#made = undefined;
  }
}
