import { type LookupAddress, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { deleteOldest } from '../runtime/maps.ts';
import { isPublicAddress } from './addresses.ts';

/** The name resolves to no allowed address. Nothing was sent, and a retry would not help. */
export class DestinationRefused extends Error {
  override name = 'DestinationRefused';
}
export type ResolveAll = (hostname: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

/**
 * The system resolver uses the same four libuv threads as the event log's flushes. A dead name server must not occupy them or delay
 * other names. So: one lookup per name, two lookups in total, and cached answers. A name that waits longer than 500 ms is resolved by
 * DNS queries instead, which need no thread but ignore the hosts file.
 */
const MAX_LOOKUPS = 2;
const PATIENCE_MS = 500;
const KEEP_MS = 10_000;
const KEEP_FAILED_MS = 2_000;
const MAX_NAMES = 2_000;

type Answer = { error: Error | null; addresses: LookupAddress[]; until: number };
type Waiter = (error: Error | null, addresses: LookupAddress[]) => void;
export interface ResolverOptions {
  now: () => number;
  resolveAll?: ResolveAll;
  /** Used while `resolveAll` is busy. */
  resolveThreadless?: ResolveAll;
}

export function createResolver(options: ResolverOptions): ResolveAll {
  const resolveAll: ResolveAll = options.resolveAll ?? ((hostname, done) => lookup(hostname, { all: true, verbatim: true }, done));
  const resolveThreadless = options.resolveThreadless ?? dnsOnly();
  const answers = new Map<string, Answer>();
  const asked = new Map<string, Waiter[]>();
  const queue = new Set<string>();
  let running = 0;

  function next() {
    for (const hostname of queue) {
      if (running >= MAX_LOOKUPS) return;
      queue.delete(hostname);
      running++;
      resolveAll(hostname, (error, addresses) => {
        running--;
        answer(hostname, error, addresses ?? []);
        next();
      });
    }
  }
  function askElsewhere(hostname: string) {
    if (!queue.has(hostname)) return;
    resolveThreadless(hostname, (error, addresses) => {
      // The name may still be in the hosts file: keep it queued for the system resolver.
      if (error || addresses.length === 0 || !queue.delete(hostname)) return;
      answer(hostname, null, addresses);
    });
  }
  function answer(hostname: string, error: Error | null, addresses: LookupAddress[]) {
    answers.delete(hostname);
    answers.set(hostname, { error, addresses, until: options.now() + (error ? KEEP_FAILED_MS : KEEP_MS) });
    if (answers.size > MAX_NAMES) deleteOldest(answers);
    const waiters = asked.get(hostname) ?? [];
    asked.delete(hostname);
    for (const waiter of waiters) waiter(error, addresses);
  }
  return (hostname, done) => {
    const known = answers.get(hostname);
    if (known && known.until > options.now()) {
      process.nextTick(done, known.error, known.addresses);
      return;
    }
    const waiters = asked.get(hostname);
    if (waiters) {
      waiters.push(done);
      return;
    }
    asked.set(hostname, [done]);
    queue.add(hostname);
    next();
    if (queue.has(hostname)) setTimeout(askElsewhere, PATIENCE_MS, hostname).unref();
  };
}

/** Asks for IPv4 and IPv6 at once; one answer is enough. */
function dnsOnly(): ResolveAll {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  return (hostname, done) => {
    const found = (family: 4 | 6) => (addresses: string[]) => addresses.map((address) => ({ address, family }));
    Promise.allSettled([resolver.resolve4(hostname).then(found(4)), resolver.resolve6(hostname).then(found(6))]).then((results) => {
      const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      const failed = results.find((result) => result.status === 'rejected');
      done(addresses.length === 0 ? (failed?.reason as Error) : null, addresses);
    });
  };
}

/** A `lookup` for `net.connect` that returns only allowed addresses. The address that was checked is the one connected to. */
export function guardedLookup(resolve: ResolveAll, allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error) {
        callback(error, '', 0);
        return;
      }
      const wanted = options.family === 4 || options.family === 6 ? addresses.filter(({ family }) => family === options.family) : addresses;
      const reachable = allowPrivate ? wanted : wanted.filter(({ address }) => isPublicAddress(address));
      const first = reachable[0];
      if (!first) callback(new DestinationRefused(`${hostname} resolves to no public address`), '', 0);
      else if (options.all) callback(null, reachable);
      else callback(null, first.address, first.family);
    });
  };
}
