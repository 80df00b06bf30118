/**
 * Sends a batch again after a crash with the same members in the same order, so that a destination which knows it by its id or its content
 * stores it once. A batch is sealed (its members are appended to `batches.<integration_id>`) before it is sent, and closed (its verdict
 * is appended) before any member is settled. So after a crash:
 *
 * - sealed and closed: members that come again are settled with the verdict, without sending;
 * - sealed and not closed: no member is settled, so all of them come again. They wait for each other and are sent as the same batch.
 */
import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { EventLog } from '../../stores/event-log/port.ts';
import { type Closing, closedSettlements, isStored, withHistory } from './batch-closing.ts';
import type { Batch } from './batcher.ts';
import type { Part } from './job.ts';
import { packMembers, unpackMembers } from './packed-members.ts';
import type { HeldEvent, Settlement } from './settlement.ts';

/** What became of an event that comes again after a crash. */
export type Claim =
  | { kind: 'closed'; settlement: Settlement }
  /** The other members have not come yet. */
  | { kind: 'waits' }
  | { kind: 'complete'; batch: RestoredBatch };
export interface RestoredBatch {
  /** In the order of the first attempt. */
  members: HeldEvent[];
  /** What the batch was built with. Another revision would build other content. */
  revision: number;
  /** When it was sealed, milliseconds since 1970. */
  at: number;
}

type SealRecord =
  /** `settled`: closed batches of which every settlement is stored. */
  | { v: 1; id: string; sealed: { revision: number; at: number; members: string }; settled: string[] }
  | { v: 1; id: string; closed: Closing };
type SealOf = Extract<SealRecord, { sealed: unknown }>['sealed'];
interface Sealed {
  id: string;
  revision: number;
  at: number;
  /** Keys of the members, in order. */
  keys: string[];
  come: Map<string, HeldEvent>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * All members come again at once on the embedded log, and after the acknowledgement timeout on JetStream. The wait ends early only if a
 * member was settled elsewhere, for example dropped while the integration was disabled.
 */
const GATHER_MS = 300_000;
const RETRY_WRITE_MS = 500;
const RETRY_READ_MS = 1_000;
const EXPIRE_EVERY_MS = 60_000;
/** Members of a batch that old were settled while the integration was disabled, or their events have expired. */
const STALE_MS = 7 * 86_400_000;
const MOST_RECORDS = 1_000_000;

export interface SealedBatchesDeps {
  log: Pick<EventLog, 'append' | 'read' | 'expire' | 'remove'>;
  clock: { now(): number };
  logger: Logger;
}

export class SealedBatches {
  readonly #deps: SealedBatchesDeps;
  readonly #integrationId: string;
  readonly #topic: string;
  /** Gives up on missing members: the batch is sent without them. */
  readonly #incomplete: (batch: RestoredBatch) => void;
  /** Batches of an earlier process that are not closed. */
  readonly #open = new Map<string, Sealed>();
  readonly #openByKey = new Map<string, Sealed>();
  /** By member of a closed batch: its settlement. */
  readonly #closed = new Map<string, Settlement>();
  /** When the batches of this process were sealed, as long as they are open. */
  readonly #sealedAt = new Map<string, number>();
  /** Number of members without a stored settlement, by batch. */
  readonly #unsettled = new Map<string, number>();
  #settled: string[] = [];
  #loading: Promise<void> | undefined;
  #loaded = false;
  #stopped = false;
  #expiredAt = 0;

  constructor(deps: SealedBatchesDeps, integrationId: string, incomplete: (batch: RestoredBatch) => void) {
    this.#deps = deps;
    this.#integrationId = integrationId;
    this.#topic = `batches.${integrationId}`;
    this.#incomplete = incomplete;
  }

  /** True while some members of an interrupted batch have come and others have not. */
  get waiting(): boolean {
    for (const { come } of this.#open.values()) if (come.size > 0) return true;
    return false;
  }

  /** Undefined once the batches of an earlier process are known. */
  load(): Promise<void> | undefined {
    if (this.#loaded) return undefined;
    this.#loading ??= this.#load();
    return this.#loading;
  }
  async #load(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#read();
        this.#loaded = true;
        return;
      } catch (error) {
        this.#warn(error, 'interrupted batches not readable, retrying');
        await pause(RETRY_READ_MS);
      }
    }
  }
  async #read(): Promise<void> {
    const records = new Map<string, { sealed: SealOf; closed?: Closing }>();
    for await (const { data } of this.#deps.log.read(this.#topic, { limit: MOST_RECORDS })) {
      const record = JSON.parse(Buffer.from(data).toString('utf8')) as SealRecord;
      if ('sealed' in record) {
        records.set(record.id, { sealed: record.sealed });
        for (const id of record.settled) records.delete(id);
      } else {
        const known = records.get(record.id);
        if (known) known.closed = record.closed;
      }
    }
    this.#open.clear();
    for (const [id, { sealed, closed }] of records) {
      const keys = unpackMembers(sealed.members);
      if (closed) for (const [key, settlement] of closedSettlements(keys, closed)) this.#closed.set(key, settlement);
      else {
        const open: Sealed = { id, revision: sealed.revision, at: sealed.at, keys, come: new Map(), timer: undefined };
        this.#open.set(id, open);
        for (const key of keys) this.#openByKey.set(key, open);
      }
    }
  }

  /**
   * Undefined for an event that was in no batch of an earlier process. With `revision` an open batch of another one does not count: its
   * request cannot be built again.
   */
  claim(held: HeldEvent, revision?: number): Claim | undefined {
    if (this.#openByKey.size === 0 && this.#closed.size === 0) return undefined;
    const key = keyOf(held);
    const closed = this.#closed.get(key);
    if (closed && !isStored(held, closed)) return { kind: 'closed', settlement: withHistory(held, closed) };
    const sealed = this.#openByKey.get(key);
    if (!sealed || (revision !== undefined && sealed.revision !== revision)) return undefined;
    sealed.come.set(key, held);
    if (sealed.come.size === sealed.keys.length) {
      this.#sealedAt.set(sealed.id, sealed.at);
      return { kind: 'complete', batch: this.#restore(sealed) };
    }
    sealed.timer ??= setTimeout(() => {
      const batch = this.#restore(sealed);
      const missing = sealed.keys.length - batch.members.length;
      this.#deps.logger.warn({ integration_id: this.#integrationId, missing }, 'interrupted batch sent without its missing members');
      this.#incomplete(batch);
    }, GATHER_MS).unref();
    return { kind: 'waits' };
  }
  #restore(sealed: Sealed): RestoredBatch {
    clearTimeout(sealed.timer);
    this.#open.delete(sealed.id);
    for (const key of sealed.keys) this.#openByKey.delete(key);
    const members = sealed.keys.flatMap((key) => sealed.come.get(key) ?? []);
    sealed.come.clear();
    return { members, revision: sealed.revision, at: sealed.at };
  }
  /** Removes and returns the events that wait for others, except in batches of this revision. */
  takeWaiting(except?: number): HeldEvent[] {
    const taken = [...this.#open.values()].filter(({ revision }) => revision !== except);
    return taken.flatMap((sealed) => this.#restore(sealed).members);
  }

  /** Resolves with true when the members are durable, and with false if `stop` was called first: do not send then. */
  async seal(id: string, parts: readonly Part[], revision: number): Promise<boolean> {
    for (const { job } of parts) job.sealed = id;
    this.#unsettled.set(id, parts.length);
    // A retry, or the batch of an earlier process.
    if (this.#sealedAt.has(id)) return true;
    const at = this.#deps.clock.now();
    this.#sealedAt.set(id, at);
    const settled = this.#settled.splice(0);
    const members = packMembers(parts.map(({ job }) => keyOf(job)));
    return this.#append(`${id}#sealed`, { v: 1, id, sealed: { revision, at, members }, settled });
  }
  /** Call before any member is settled. Resolves with false if `stop` was called first: settle nothing then. */
  async close(id: string, closed: Closing): Promise<boolean> {
    const stored = await this.#append(`${id}#closed`, { v: 1, id, closed });
    this.#sealedAt.delete(id);
    void this.#expire();
    return stored;
  }
  /** Call once per member whose settlement is stored. */
  released(id: string): void {
    const left = (this.#unsettled.get(id) ?? 1) - 1;
    this.#unsettled.set(id, left);
    if (left > 0) return;
    this.#unsettled.delete(id);
    this.#settled.push(id);
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#open.values()) clearTimeout(timer);
  }
  async forget(): Promise<void> {
    await this.#deps.log.remove(this.#topic);
  }

  async #append(id: string, record: SealRecord): Promise<boolean> {
    const data = Buffer.from(JSON.stringify(record));
    for (let warned = false; !this.#stopped; warned = true) {
      try {
        await this.#deps.log.append([{ topic: this.#topic, records: [{ id, data }] }]);
        return true;
      } catch (error) {
        if (!warned) this.#warn(error, 'batch not sealed, retrying');
        await pause(RETRY_WRITE_MS);
      }
    }
    return false;
  }
  /** Removes the batches before the oldest open one. A minute keeps those whose settlements are still being written. */
  async #expire(): Promise<void> {
    const now = this.#deps.clock.now();
    if (now - this.#expiredAt < EXPIRE_EVERY_MS) return;
    this.#expiredAt = now;
    const open = [...this.#sealedAt.values(), ...[...this.#open.values()].map(({ at }) => at)].filter((at) => now - at < STALE_MS);
    const oldest = Math.min(now - EXPIRE_EVERY_MS, ...open);
    try {
      await this.#deps.log.expire(this.#topic, new Date(oldest));
    } catch (error) {
      this.#warn(error, 'old batches not removed, retrying later');
    }
  }
  #warn(error: unknown, message: string): void {
    this.#deps.logger.warn({ err: error, integration_id: this.#integrationId }, message);
  }
}

/** Whether batches of the vendor are sealed. */
export function sealsBatches({ transport, batch, ordering }: CompiledVendor): boolean {
  // The next event of a visitor must wait for the one in the batch, also after a crash.
  return transport ? transport.sealed : batch !== null && ordering === undefined;
}
/** A request for one event has its id. An event with several items is in several requests, and a job is polled, not sent. */
export function isSealed({ vendor, parts, job }: Batch): boolean {
  if (vendor.transport || !sealsBatches(vendor)) return sealsBatches(vendor);
  return job === undefined && parts.length > 1 && parts.every(({ job: { items } }) => items.length === 1);
}

function keyOf({ delivery, replay }: HeldEvent): string {
  return (replay ? 'r' : 'e') + delivery.record.position;
}
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
