import type { Clock } from '../../runtime/clock.ts';
import { LEASE_TTL_MS, type LeaseBucket } from './bucket.ts';

interface Held {
  revision: number;
  /** Monotonic time at which the last successful write was sent. */
  since: number;
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

const TURN_MS = 1_000;
const RENEW_MS = 2_000;
/** Stop the work after this long without a renewal: well before the key expires and another process can win it. */
const GIVE_UP_MS = LEASE_TTL_MS - 2_000;
const WATCH_MS = 200;

/** One process's share in a set of names. Sends heartbeats, takes free names up to its share, and releases the excess. */
export class Share {
  readonly #options: ShareOptions;
  readonly #held = new Map<string, Held>();
  readonly #member: string;
  readonly #order: string[];
  readonly #turns: NodeJS.Timeout;
  readonly #watch: NodeJS.Timeout;
  #memberRevision = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: ShareOptions) {
    this.#options = options;
    this.#member = `member.${options.set}.${options.own}`;
    // Each process starts at a different name, so that newcomers do not all compete for the same one.
    const start = Number.parseInt(options.own.slice(0, 8), 16) % Math.max(1, options.names.length);
    this.#order = [...options.names.slice(start), ...options.names.slice(0, start)];
    this.#turns = setInterval(() => this.#turn(), TURN_MS);
    this.#watch = setInterval(() => this.#giveUpLate(), WATCH_MS);
    this.#turn();
  }

  #turn(): void {
    if (this.#stopped) return;
    this.#running ??= this.#work()
      .catch((error) => this.#options.onError(error))
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #work(): Promise<void> {
    await this.#renewAll();
    if (this.#stopped) return;
    const members = await this.#sayAlive();
    const share = Math.ceil(this.#options.names.length / members);
    const owned = [...this.#held].filter(([, held]) => !held.losing);
    for (const [name] of owned.slice(share)) await this.#giveBack(name);
    for (const name of this.#order) {
      if (this.#stopped || this.#held.size >= share) return;
      if (!this.#held.has(name)) await this.#tryFor(name);
    }
  }

  async #sayAlive(): Promise<number> {
    const { bucket } = this.#options;
    const revision = await bucket.write(this.#member, 'alive', this.#memberRevision);
    // The key expired or has an unexpected revision: the next turn starts from the stored state.
    this.#memberRevision = revision ?? 0;
    const members = new Set(await bucket.keys(`member.${this.#options.set}`));
    members.add(this.#member);
    return members.size;
  }

  async #renewAll(): Promise<void> {
    await Promise.all([...this.#held].map(([name, held]) => this.#renew(name, held)));
  }

  async #renew(name: string, held: Held): Promise<void> {
    const now = this.#options.clock.monotonic();
    if (held.losing || now - held.since < RENEW_MS) return;
    const { bucket, own } = this.#options;
    try {
      const revision = await bucket.write(keyOf(this.#options.set, name), own, held.revision);
      if (revision === undefined) void this.#lose(name, held);
      else {
        held.revision = revision;
        held.since = now;
      }
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async #tryFor(name: string): Promise<void> {
    const { bucket, own } = this.#options;
    const key = keyOf(this.#options.set, name);
    const free = await bucket.free(key);
    if (free === undefined) return;
    const since = this.#options.clock.monotonic();
    const revision = await bucket.write(key, own, free);
    if (revision === undefined) return;
    const won = Promise.resolve()
      .then(() => this.#options.callbacks.won(name))
      .catch((error) => this.#options.onError(error));
    this.#held.set(name, { revision, since, won });
  }

  /** Runs independently of the turns, because a turn may hang on the broker. */
  #giveUpLate(): void {
    const limit = this.#options.clock.monotonic() - GIVE_UP_MS;
    for (const [name, held] of this.#held) if (held.since < limit) void this.#lose(name, held);
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

  /** Stops the work first, then releases the name. The lease is renewed until the work has stopped. */
  async #giveBack(name: string): Promise<void> {
    const held = this.#held.get(name);
    if (!held) return;
    const alive = setInterval(() => void this.#keep(name, held), RENEW_MS);
    try {
      await this.#lose(name, held);
    } finally {
      clearInterval(alive);
    }
    try {
      await this.#options.bucket.write(keyOf(this.#options.set, name), '', held.revision);
    } catch (error) {
      // The key expires by itself.
      this.#options.onError(error);
    }
  }

  async #keep(name: string, held: Held): Promise<void> {
    try {
      const revision = await this.#options.bucket.write(keyOf(this.#options.set, name), this.#options.own, held.revision);
      if (revision !== undefined) held.revision = revision;
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    clearInterval(this.#turns);
    await this.#running;
    await Promise.all([...this.#held.keys()].map((name) => this.#giveBack(name)));
    clearInterval(this.#watch);
    await this.#options.bucket.purge(this.#member).catch((error) => this.#options.onError(error));
  }
}

function keyOf(set: string, name: string): string {
  return `lease.${set}.${Buffer.from(name).toString('base64url')}`;
}
