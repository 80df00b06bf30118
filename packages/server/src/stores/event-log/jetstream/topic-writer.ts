import { setTimeout as sleep } from 'node:timers/promises';
import type { MsgHdrs } from '@nats-io/transport-node';
import { LogUnavailable } from '../port.ts';
import type { FamilyIds } from './family-ids.ts';
import { positionOf } from './position.ts';
import { InDoubt, type PubAck } from './publisher.ts';
import { encodeBatch, fitting, type Packed } from './record-batch.ts';
import type { Rounds } from './rounds.ts';

/** One call of `append`, for one topic. Settles when all of its records have. */
export interface Call {
  positions: (string | undefined)[];
  left: number;
  resolve(): void;
  reject(error: Error): void;
}
export interface Entry extends Packed {
  id: string;
  /** Undefined once the caller has got the error. */
  call: Call | undefined;
  index: number;
  /** Later appends of the same id. They store nothing, and resolve when this entry is durable. */
  joined: Call[];
}

export interface TopicWriterDeps {
  publish(data: Uint8Array, headers: MsgHdrs): Promise<PubAck>;
  /** Of the topic's stream. */
  rounds: Rounds;
  ids: FamilyIds;
  maxPayload(): number;
  messageId(): string;
  /** Called with the entries of each stored batch. */
  onStored?: ((entries: readonly Entry[]) => void) | undefined;
}

const AGAIN_MS = 250;
/** So many records need not wait for more. */
const ENOUGH_RECORDS = 100;

/**
 * Writes one topic. Records that arrive before the next round of its stream share a message. One message is in flight
 * at a time, so the order of appends is the order of the log, also when a message has to be sent again.
 */
export class TopicWriter {
  readonly #deps: TopicWriterDeps;
  #queue: Entry[] = [];
  #running = false;
  #closed = false;

  constructor(deps: TopicWriterDeps) {
    this.#deps = deps;
  }

  get isIdle(): boolean {
    return !this.#running && this.#queue.length === 0;
  }

  add(id: string, packed: Packed, call: Call, index: number): void {
    const { ids } = this.#deps;
    const pending = ids.pending(id);
    if (pending) {
      // The caller that brought it has given up, so this one gets its position.
      if (pending.call === undefined) {
        pending.call = call;
        pending.index = index;
      } else pending.joined.push(call);
      return;
    }
    if (ids.isStored(packed)) {
      finish(call);
      return;
    }
    const entry: Entry = { ...packed, id, call, index, joined: [] };
    ids.begin(id, entry);
    this.#queue.push(entry);
    if (!this.#running) void this.#run();
    if (this.#queue.length === ENOUGH_RECORDS) this.#deps.rounds.hurry();
  }

  async #run(): Promise<void> {
    const { maxPayload, rounds } = this.#deps;
    this.#running = true;
    for (let turn: Promise<void> | undefined = rounds.next(); turn !== undefined; ) {
      await turn;
      const batch = this.#queue.splice(0, fitting(this.#queue, maxPayload()));
      if (batch.length > 0) await this.#store(batch);
      // Records that arrived meanwhile have waited long enough: they join before the round ends.
      turn = this.#queue.length > 0 && !this.#closed ? rounds.next() : undefined;
      if (this.#queue.length >= ENOUGH_RECORDS) rounds.hurry();
      rounds.confirmed();
    }
    this.#running = false;
  }

  /** Returns when the batch is stored or certainly is not. Until then, a batch in doubt is sent again under the same message id. */
  async #store(batch: Entry[]): Promise<void> {
    const { ids, maxPayload, messageId, onStored, publish } = this.#deps;
    let message: ReturnType<typeof encodeBatch>;
    try {
      message = encodeBatch(batch, maxPayload());
    } catch (error) {
      for (const entry of batch) this.#give(entry, error as Error);
      return;
    }
    message.headers.set('Nats-Msg-Id', messageId());
    while (!this.#closed) {
      try {
        const { seq } = await publish(message.data, message.headers);
        for (const [index, entry] of batch.entries()) {
          ids.stored(entry);
          ids.end(entry.id);
          if (entry.call) finish(entry.call, entry.index, positionOf(seq, index));
          for (const call of entry.joined) finish(call);
        }
        onStored?.(batch);
        return;
      } catch (error) {
        const failure = error instanceof LogUnavailable ? error : new LogUnavailable((error as Error).message, { cause: error });
        for (const entry of this.#queue.splice(0)) this.#give(entry, failure);
        if (!(failure instanceof InDoubt)) {
          for (const entry of batch) this.#give(entry, failure);
          return;
        }
        for (const entry of batch) tell(entry, failure);
        await sleep(AGAIN_MS, undefined, { ref: false });
      }
    }
  }

  /** The entry is certainly not stored. */
  #give(entry: Entry, error: Error): void {
    this.#deps.ids.end(entry.id);
    tell(entry, error);
  }

  close(): void {
    this.#closed = true;
    for (const entry of this.#queue.splice(0)) this.#give(entry, new LogUnavailable('the log is closed'));
  }
}

function tell(entry: Entry, error: Error): void {
  entry.call?.reject(error);
  for (const call of entry.joined.splice(0)) call.reject(error);
  entry.call = undefined;
}
function finish(call: Call, index?: number, position?: string): void {
  if (index !== undefined) call.positions[index] = position;
  if (--call.left === 0) call.resolve();
}
