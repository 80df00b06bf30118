import type { LookupFunction } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { ClientCertificate } from '@firsthand/core/vendor/compiled.ts';
import { buildConnector, Client, type Dispatcher } from 'undici';

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 15_000;
/** Maximum age of a connection, so that a changed address of the host is picked up. */
const TTL_MS = 300_000;
const MAX_IDLE = 64;

export interface Connection {
  readonly client: Client;
  readonly pool: OriginPool;
  readonly bornAt: number;
  /** The code of the socket's first error. undici reports a TLS alert that follows the handshake as "other side closed". */
  socketError: string | undefined;
}

/**
 * The connections to one origin with one client certificate, or none. Each carries one request at a time; the most recently used is taken first. There is no connection limit:
 * callers limit their own in-flight requests. (undici's own pool scans its connections for every request, and opens another whenever a
 * request follows within the same event loop turn.)
 */
export class OriginPool {
  readonly origin: string;
  readonly #lookup: LookupFunction;
  readonly #certificate: { cert: string; key: string } | undefined;
  #connector: buildConnector.connector | undefined;
  readonly #idle: Connection[] = [];
  readonly #all = new Set<Connection>();
  readonly #now: () => number;
  #retired = false;

  constructor(origin: string, lookup: LookupFunction, now: () => number, tls?: ClientCertificate) {
    this.origin = origin;
    this.#certificate = tls && { cert: pem(tls.certificate), key: pem(tls.private_key) };
    this.#lookup = lookup;
    this.#now = now;
  }

  get presentsCertificate(): boolean {
    return this.#certificate !== undefined;
  }

  take(): Connection {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (this.#now() - idle.bornAt < TTL_MS) return idle;
      this.#end(idle);
    }
    // One for all connections: it keeps the TLS sessions, so that later handshakes are short.
    const connector = (this.#connector ??= buildConnector({
      lookup: this.#lookup,
      timeout: CONNECT_TIMEOUT_MS,
      allowH2: false,
      ...(this.#certificate ?? { secureContext: defaultContext() }),
    }));
    const client = new Client(this.origin, {
      connect: (options, done) =>
        connector(options, (...result) => {
          result[1]?.once('error', (error: NodeJS.ErrnoException) => (connection.socketError ??= error.code));
          done(...result);
        }),
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The request's own deadline covers everything; timeouts per phase would only add cost.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const connection: Connection = { client, pool: this, bornAt: this.#now(), socketError: undefined };
    this.#all.add(connection);
    return connection;
  }
  /** The response is complete: the connection may take the next request. */
  giveBack(connection: Connection): void {
    if (this.#retired || this.#idle.length >= MAX_IDLE) this.#end(connection);
    else this.#idle.push(connection);
  }
  /** After an error or timeout: late data on this connection must not reach another request. */
  discard(connection: Connection): void {
    this.#end(connection);
  }
  /** Closes idle connections; busy ones close after their request. */
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
    // Closes at once. The caller already knows that its request was aborted.
    connection.client.destroy().catch(() => undefined);
  }
}
let sharedContext: SecureContext | undefined;
/** TLS settings without a client certificate. Node makes new ones for every connection otherwise, which takes 1 to 3 ms. */
function defaultContext(): SecureContext {
  return (sharedContext ??= createSecureContext());
}

/** A text pasted from a JSON file often has its line breaks as two characters. */
function pem(text: string): string {
  return text.replaceAll('\\n', '\n');
}

export type { Dispatcher };
