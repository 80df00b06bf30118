import { fnv1a, mixed } from '@firsthand/core/hash/fnv1a.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';

const CHANNEL = 'limits.members';
const BEAT_MS = 1_000;
const FORGET_MS = 3_500;

interface Beat {
  id: string;
  left?: true;
}

/** The processes that share limits, by their heartbeats. Every process chooses the same keeper for a key, without a vote. */
export class Members {
  readonly id: string;
  readonly #ephemeral: Ephemeral;
  readonly #now: () => number;
  readonly #others = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  #lastRound: number;
  /** Changes whenever a process joins or leaves. */
  version = 0;
  changedAt = Number.NEGATIVE_INFINITY;

  constructor(ephemeral: Ephemeral, id: string, now: () => number) {
    this.id = id;
    this.#ephemeral = ephemeral;
    this.#now = now;
    this.#lastRound = now();
    this.#unsubscribe = ephemeral.subscribe(CHANNEL, (beat) => this.#hear(beat as Beat));
    this.#timer = setInterval(() => this.#round(), BEAT_MS);
    this.#timer.unref();
    this.#beat();
  }

  /** Including this one. */
  get size(): number {
    return this.#others.size + 1;
  }

  /** The process that keeps the key's account: the one with the highest hash of its id and the key. */
  keeperOf(key: string): string {
    let keeper = this.id;
    let highest = hash(this.id, key);
    for (const id of this.#others.keys()) {
      const value = hash(id, key);
      if (value > highest || (value === highest && id > keeper)) {
        keeper = id;
        highest = value;
      }
    }
    return keeper;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#unsubscribe();
    this.#ephemeral.publish(CHANNEL, { id: this.id, left: true } satisfies Beat);
  }

  #beat(): void {
    this.#ephemeral.publish(CHANNEL, { id: this.id } satisfies Beat);
  }
  #hear({ id, left }: Beat): void {
    if (id === this.id) return;
    if (left) {
      if (this.#others.delete(id)) this.#changed();
      return;
    }
    const isNew = !this.#others.has(id);
    this.#others.set(id, this.#now());
    if (!isNew) return;
    this.#changed();
    // The newcomer learns of this process at once.
    this.#beat();
  }
  #round(): void {
    const now = this.#now();
    // A process that was frozen itself has missed the heartbeats of others that may still run.
    const wasFrozen = now - this.#lastRound > FORGET_MS - BEAT_MS;
    this.#lastRound = now;
    this.#beat();
    if (wasFrozen) return;
    for (const [id, at] of this.#others)
      if (now - at > FORGET_MS) {
        this.#others.delete(id);
        this.#changed();
      }
  }
  #changed(): void {
    this.version++;
    this.changedAt = this.#now();
  }
}

/** Keys that differ in one character choose independently. */
function hash(id: string, key: string): number {
  return mixed(fnv1a(key, fnv1a(id)));
}
