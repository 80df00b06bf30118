import type { LookupFunction } from 'node:net';
import { Client, type Dispatcher } from 'undici';

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 15_000;
/** A connection serves this long at most, so that a host that moves is found again. */
const TTL_MS = 300_000;
const MAX_IDLE = 64;

export interface Connection {
  readonly client: Client;
  readonly pool: OriginPool;
  readonly bornAt: number;
}

/**
 * The connections to one origin, each with one request at a time, the last used first. It has no limit of its own:
 * callers bound what they have under way. (undici's own pool searches through its connections at every request, and
 * opens a further one whenever a request follows another within the same turn of the event loop.)
 */
export class OriginPool {
  readonly origin: string;
  readonly #lookup: LookupFunction;
  readonly #idle: Connection[] = [];
  readonly #all = new Set<Connection>();
  readonly #now: () => number;
  #retired = false;

  constructor(origin: string, lookup: LookupFunction, now: () => number) {
    this.origin = origin;
    this.#lookup = lookup;
    this.#now = now;
  }

  take(): Connection {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (this.#now() - idle.bornAt < TTL_MS) return idle;
      this.#end(idle);
    }
    const client = new Client(this.origin, {
      connect: { lookup: this.#lookup, timeout: CONNECT_TIMEOUT_MS },
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The exchange's own clock bounds the whole; a second one per phase would only cost.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const connection = { client, pool: this, bornAt: this.#now() };
    this.#all.add(connection);
    return connection;
  }
  /** The answer is complete: the connection may take the next request. */
  giveBack(connection: Connection): void {
    if (this.#retired || this.#idle.length >= MAX_IDLE) this.#end(connection);
    else this.#idle.push(connection);
  }
  /** Something went wrong, or the time was up: whatever still happens on it must not reach another request. */
  discard(connection: Connection): void {
    this.#end(connection);
  }
  /** Ends what is idle; what is busy ends with its request. */
  retire(): void {
    this.#retired = true;
    for (const idle of this.#idle.splice(0)) this.#end(idle);
  }
  async destroy(): Promise<void> {
    this.#retired = true;
    await Promise.allSettled([...this.#all].map(({ client }) => client.destroy()));
    this.#all.clear();
  }

  #end(connection: Connection): void {
    this.#all.delete(connection);
    // Ends at once; that a request was cut off has been told to its caller already.
    connection.client.destroy().catch(() => undefined);
  }
}
export type { Dispatcher };
