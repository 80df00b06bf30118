/**
 * All outbound HTTP goes through this client: it checks addresses, follows no redirects, and bounds time and reply size.
 * Connections to one origin are shared without a limit. Callers limit their own in-flight requests, so two integrations on one host
 * never wait for each other.
 */
import { hash } from 'node:crypto';
import type { ClientCertificate, VendorReply, VendorRequest } from '@firsthand/core/vendor/compiled.ts';
import { USER_AGENT } from '@firsthand/core/vendor/version.ts';
import type { Clock } from '../runtime/clock.ts';
import { deleteOldest } from '../runtime/maps.ts';
import { isPublicAddress, literalAddress } from './addresses.ts';
import { Deadlines } from './deadlines.ts';
import { checkedHeaders } from './headers.ts';
import { InFlightRequest, type SendResult } from './in-flight-request.ts';
import { type Dispatcher, OriginPool } from './origin-pool.ts';
import { createResolver, guardedLookup, type ResolveAll } from './resolver.ts';

export interface GuardedClient {
  /** Never rejects: a failure is a result. Settles within `timeoutMs`. */
  send(request: VendorRequest, timeoutMs: number): Promise<SendResult>;
  /** Aborts in-flight requests and closes every connection. */
  close(): Promise<void>;
}
export type { SendResult, VendorReply };

export interface GuardedClientOptions {
  allowPrivateDestinations: boolean;
  clock: Clock;
  /** Overridden by tests to resolve names to fixed addresses. */
  resolveAll?: ResolveAll;
}

const MAX_ORIGINS = 512;
const MAX_TARGETS = 2_048;
interface Target {
  pool: OriginPool;
  origin: string;
  host: string;
  path: string;
}

export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const resolve = createResolver({
    now: () => options.clock.monotonic(),
    ...(options.resolveAll ? { resolveAll: options.resolveAll } : {}),
  });
  const lookup = guardedLookup(resolve, options.allowPrivateDestinations);
  const pools = new Map<string, OriginPool>();
  const targets = new Map<string, Target>();
  const now = () => options.clock.monotonic();
  const deadlines = new Deadlines(now);

  /** Connections with a client certificate are used for nothing else. */
  function poolFor(origin: string, tls: ClientCertificate | undefined): OriginPool {
    const key = tls ? `${certificateId(tls)} ${origin}` : origin;
    const known = pools.get(key);
    if (known) {
      // Move it to the end, so that the first entry is the least recently used.
      pools.delete(key);
      pools.set(key, known);
      return known;
    }
    const pool = new OriginPool(origin, lookup, now, tls);
    pools.set(key, pool);
    if (pools.size > MAX_ORIGINS) retireOldest();
    return pool;
  }
  function retireOldest() {
    const [oldest] = pools;
    if (oldest === undefined) return;
    const [origin, pool] = oldest;
    pools.delete(origin);
    for (const [url, target] of targets) if (target.pool === pool) targets.delete(url);
    pool.retire();
  }
  function targetOf(url: string, tls?: ClientCertificate): Target | string {
    const key = tls ? `${certificateId(tls)} ${url}` : url;
    const known = targets.get(key);
    if (known) return known;
    if (!URL.canParse(url)) return 'the URL does not parse';
    const parsed = new URL(url);
    if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return `the protocol ${parsed.protocol} is not supported`;
    const literal = literalAddress(parsed.hostname);
    if (literal !== undefined && !options.allowPrivateDestinations && !isPublicAddress(literal))
      return `the address ${literal} is not public`;
    const target = { pool: poolFor(parsed.origin, tls), origin: parsed.origin, host: parsed.host, path: parsed.pathname + parsed.search };
    targets.set(key, target);
    if (targets.size > MAX_TARGETS) deleteOldest(targets);
    return target;
  }

  return {
    send(request, timeoutMs) {
      const { tls } = request;
      if (tls?.valid_to !== undefined && options.clock.now() > tls.valid_to) return refused(expired(tls.valid_to));
      const target = targetOf(request.url, tls);
      if (typeof target === 'string') return refused(target);
      const headers = checkedHeaders(request.headers, target.host, USER_AGENT);
      if (typeof headers === 'string') return refused(headers);
      return new Promise((done) => {
        const connection = target.pool.take();
        const inFlight = new InFlightRequest(options.clock, deadlines, connection, { timeoutMs, maxBytes: request.max_reply_bytes }, done);
        try {
          connection.client.dispatch(
            {
              origin: target.origin,
              path: target.path,
              method: request.method as Dispatcher.HttpMethod,
              headers,
              body: request.body ?? null,
            },
            inFlight,
          );
        } catch (error) {
          inFlight.refuse(error);
        }
      });
    },
    async close() {
      const all = [...pools.values()].map((pool) => pool.destroy());
      pools.clear();
      targets.clear();
      await Promise.allSettled(all);
      deadlines.stop();
    },
  };
}

const certificateIds = new WeakMap<ClientCertificate, string>();
function certificateId(tls: ClientCertificate): string {
  let id = certificateIds.get(tls);
  if (id === undefined) certificateIds.set(tls, (id = hash('sha256', `${tls.certificate}\n${tls.private_key}`, 'base64')));
  return id;
}
function expired(validTo: number): string {
  return `the client certificate expired on ${new Date(validTo).toISOString().slice(0, 10)}`;
}

function refused(error: string): Promise<SendResult> {
  return Promise.resolve({ kind: 'failed', error, permanent: true, duration_ms: 0 });
}
