import type { Clock } from '../../runtime/clock.ts';
import { LEASE_TTL_MS, type LeaseBucket } from './bucket.ts';

interface Held {
  revision: number;
  won: Promise<void>;
  losing?: Promise<void>;
}

interface ShareOptions {
  bucket: LeaseBucket;
  /** Id of this process. */
  own: string;
  /** Identifies the shared set of names. */
  set: string;
  names: string[];
  callbacks: { won(name: string): Promise<void>; lost(name: string): Promise<void> };
  clock: Pick<Clock, 'monotonic'>;
  onError(error: unknown): void;
}

export const BEAT_MS = 1_000;
/** A process that holds every name takes a turn this often: whoever joins says so. */
const REST_MS = 5_000;
/** Stop the work after this long without a renewal: well before the key expires and another process can win it. */
const GIVE_UP_MS = LEASE_TTL_MS - 1_500;
/** How often a process without a valid key looks for names that it still holds. */
const LATE_MS = 200;
/** Names requested at the same time. */
const AT_ONCE = 16;

/**
 * One process's share in a set of names. Renews the process's key, takes free names up to its share, and releases the excess. A name belongs to
 * the process that its key says, for as long as that process's own key exists.
 */
export class Share {
  readonly #options: ShareOptions;
  readonly #held = new Map<string, Held>();
  readonly #order: string[];
  #watch: NodeJS.Timeout;
  #member: Member;
  #running: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #again = false;
  /** The bucket may say that this process owns names which it does not hold: it lost them, or the answer to a write. */
  #mayOwnMore = false;
  readonly #released: { unsubscribe(): void };
  #stopped = false;

  constructor(options: ShareOptions) {
    this.#options = options;
    const expired = () => this.#loseAll();
    // A process that holds everything takes a turn then.
    this.#member = new Member(options, `member.${options.set}`, { expired, written: () => options.bucket.announce(options.set) });
    // Each process starts at a different name, so that newcomers do not all compete for the same one.
    const start = Number.parseInt(options.own.slice(0, 8), 16) % Math.max(1, options.names.length);
    this.#order = [...options.names.slice(start), ...options.names.slice(0, start)];
    this.#watch = setTimeout(() => this.#giveUpLate(), GIVE_UP_MS);
    this.#released = options.bucket.onReleased(options.set, () => this.#turn());
    this.#turn();
  }

  /** Call every `BEAT_MS` until `stop`, for all shares of the process at once: brokers replicate together what arrives together. */
  beat(): void {
    // Not part of the turn, which may wait for the broker.
    void this.#member.renew();
    if (!this.#rests) this.#turn();
  }

  get #rests(): boolean {
    const { names, clock } = this.#options;
    const holdsAll = this.#held.size === names.length && this.#member.isAlive;
    return holdsAll && clock.monotonic() - this.#lookedAt < REST_MS;
  }

  #turn(): void {
    if (this.#stopped) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#again = false;
    this.#running = this.#work()
      .catch((error) => {
        this.#mayOwnMore = true;
        this.#options.onError(error);
      })
      .finally(() => {
        this.#running = undefined;
        if (this.#again) this.#turn();
      });
  }

  async #work(): Promise<void> {
    const { bucket, names, own, set } = this.#options;
    if (!this.#member.isAlive) await this.#member.renew();
    if (this.#stopped || !this.#member.isAlive) return;
    const members = await bucket.members(`member.${set}`, this.#member.revision);
    members.add(own);
    this.#lookedAt = this.#options.clock.monotonic();
    const share = Math.ceil(names.length / members.size);
    const owned = [...this.#held].filter(([, held]) => !held.losing);
    // Not awaited: the work on them may take seconds to stop, and names of a dead process must not wait for it.
    for (const [name] of owned.slice(share)) void this.#giveBack(name);
    const wanted = this.#order.filter((name) => !this.#held.has(name));
    while (wanted.length > 0 && !this.#stopped && this.#held.size < share)
      await this.#tryFor(wanted.splice(0, Math.min(AT_ONCE, share - this.#held.size)));
    if (this.#mayOwnMore) await this.#releaseUnheld();
  }

  /** Without it nobody would take these names: their owner is alive, and may hold its share of others. */
  async #releaseUnheld(): Promise<void> {
    const { bucket, names, own, set } = this.#options;
    const unheld = names.filter((name) => !this.#held.has(name));
    // What is being lost is released in a later turn.
    this.#mayOwnMore = this.#held.values().some(({ losing }) => losing !== undefined);
    let released = false;
    while (unheld.length > 0)
      await Promise.all(
        unheld.splice(0, AT_ONCE).map(async (name) => {
          const { owner, revision } = await bucket.owner(keyOf(set, name));
          if (owner !== own) return;
          await bucket.writeOwner(keyOf(set, name), '', revision);
          released = true;
        }),
      );
    if (released) bucket.announce(set);
  }

  async #tryFor(names: string[]): Promise<void> {
    const { bucket, own, set } = this.#options;
    const found = await Promise.all(names.map(async (name) => ({ name, ...(await bucket.owner(keyOf(set, name))) })));
    // A released name is free whoever is alive.
    const { free = [], owned = [] } = Object.groupBy(found, ({ owner }) => (owner === '' || owner === own ? 'free' : 'owned'));
    await Promise.all([...free.map(({ name, revision }) => this.#take(name, revision)), this.#takeOfDead(owned)]);
  }
  /** Call with owners that were read before. If they were read after who is alive, a process that joined in between would look dead. */
  async #takeOfDead(owned: readonly { name: string; owner: string; revision: number }[]): Promise<void> {
    if (owned.length === 0) return;
    const { bucket, set } = this.#options;
    // A fresh write, which only a quorum confirms, tells an up-to-date list from an old one.
    await this.#member.renew();
    const { revision } = this.#member;
    const [members, leaving] = await Promise.all([bucket.members(`member.${set}`, revision), bucket.members(`leaving.${set}`, revision)]);
    const free = owned.filter(({ owner }) => !members.has(owner) && !leaving.has(owner));
    await Promise.all(free.map(({ name, revision }) => this.#take(name, revision)));
  }
  async #take(name: string, replaced: number): Promise<void> {
    const { bucket, callbacks, own, set, onError } = this.#options;
    const revision = await bucket.writeOwner(keyOf(set, name), own, replaced);
    if (revision === undefined) return;
    // Frozen meanwhile: others may believe that this process is dead.
    if (!this.#member.isAlive) {
      this.#mayOwnMore = true;
      return;
    }
    const won = Promise.resolve()
      .then(() => callbacks.won(name))
      .catch((error) => onError(error));
    this.#held.set(name, { revision, won });
  }

  /** Runs independently of the turns, because a turn may hang on the broker. */
  #giveUpLate(): void {
    const left = this.#member.aliveForMs;
    if (left <= 0) this.#loseAll();
    // Not before the present renewal could run out.
    this.#watch = setTimeout(() => this.#giveUpLate(), left <= 0 ? LATE_MS : left);
  }
  #loseAll(): void {
    this.#mayOwnMore = true;
    for (const [name, held] of this.#held) void this.#lose(name, held);
  }

  #lose(name: string, held: Held): Promise<void> {
    held.losing ??= (async () => {
      await held.won;
      try {
        await this.#options.callbacks.lost(name);
      } catch (error) {
        this.#options.onError(error);
      } finally {
        this.#held.delete(name);
      }
    })();
    return held.losing;
  }

  /** Stops the work first, then releases the name, not before `ready`. */
  async #giveBack(name: string, ready?: Promise<void>): Promise<void> {
    const held = this.#held.get(name);
    if (!held) return;
    await Promise.all([this.#lose(name, held), ready]);
    const { bucket, set, onError } = this.#options;
    try {
      await bucket.writeOwner(keyOf(set, name), '', held.revision);
      bucket.announce(set);
    } catch (error) {
      // It is free when the key of this process has expired.
      onError(error);
    }
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#released.unsubscribe();
    await this.#running;
    const beats = setInterval(() => void this.#member.renew(), BEAT_MS);
    // The work on the names ends meanwhile.
    const uncounted = this.#leave();
    await Promise.all([uncounted, ...Array.from(this.#held.keys(), (name) => this.#giveBack(name, uncounted))]);
    clearInterval(beats);
    clearTimeout(this.#watch);
    await this.#member.remove().catch((error) => this.#options.onError(error));
  }
  /** From then on the others do not count this process, and take each name over as soon as it is released, but not before. */
  async #leave(): Promise<void> {
    const { set, onError } = this.#options;
    const counted = this.#member;
    this.#member = new Member(this.#options, `leaving.${set}`, { expired: () => this.#loseAll() });
    await this.#member.renew();
    await counted.remove().catch((error) => onError(error));
  }
}

interface MemberHooks {
  /** Others may have taken what this process owned. */
  expired(): void;
  /** The key is new. */
  written?(): void;
}

/** This process's own key in a set. */
class Member {
  readonly #options: ShareOptions;
  readonly #key: string;
  readonly #hooks: MemberHooks;
  revision = 0;
  /** Monotonic time at which the last successful write was sent. */
  #since = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | undefined;
  #removed = false;

  constructor(options: ShareOptions, prefix: string, hooks: MemberHooks) {
    this.#options = options;
    this.#key = `${prefix}.${options.own}`;
    this.#hooks = hooks;
  }

  /** False well before the key expires on the broker. */
  get isAlive(): boolean {
    return this.aliveForMs > 0;
  }
  get aliveForMs(): number {
    return Math.max(0, this.#since + GIVE_UP_MS - this.#options.clock.monotonic());
  }
  renew(): Promise<void> {
    this.#renewing ??= this.#write()
      .catch((error) => this.#options.onError(error))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }
  async #write(): Promise<void> {
    const { bucket, clock } = this.#options;
    if (this.#removed) return;
    const at = clock.monotonic();
    let revision = await bucket.writeMember(this.#key, this.revision);
    if (revision === undefined) {
      // The confirmation of an earlier write was lost, or the key has expired.
      const stored = await bucket.memberRevision(this.#key);
      if (stored === undefined) this.#hooks.expired();
      this.revision = stored ?? 0;
      revision = await bucket.writeMember(this.#key, this.revision);
      if (revision === undefined) return;
    }
    const isNew = this.revision === 0;
    this.revision = revision;
    this.#since = at;
    if (isNew) this.#hooks.written?.();
  }
  async remove(): Promise<void> {
    this.#removed = true;
    await this.#renewing;
    await this.#options.bucket.purgeMember(this.#key);
  }
}

function keyOf(set: string, name: string): string {
  return `lease.${set}.${Buffer.from(name).toString('base64url')}`;
}
