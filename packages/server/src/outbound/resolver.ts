import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './addresses.ts';

/** No address of the name may be reached: nothing was sent, and no retry would help. */
export class DestinationRefused extends Error {
  override name = 'DestinationRefused';
}
export type ResolveAll = (hostname: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

/**
 * The system's resolver works in the same four threads that the log flushes in. One dead name server must not fill them:
 * one question a name at a time, two in all, answers kept for a while.
 */
const MAX_LOOKUPS = 2;
const KEEP_MS = 10_000;
const KEEP_FAILED_MS = 2_000;
const MAX_NAMES = 2_000;

type Answer = { error: Error | null; addresses: LookupAddress[]; until: number };
type Waiter = (error: Error | null, addresses: LookupAddress[]) => void;

export function createResolver(options: { now: () => number; resolveAll?: ResolveAll }): ResolveAll {
  const resolveAll: ResolveAll = options.resolveAll ?? ((hostname, done) => lookup(hostname, { all: true, verbatim: true }, done));
  const answers = new Map<string, Answer>();
  const asked = new Map<string, Waiter[]>();
  const queue: string[] = [];
  let running = 0;

  function next() {
    while (running < MAX_LOOKUPS && queue.length > 0) {
      const hostname = queue.shift()!;
      running++;
      resolveAll(hostname, (error, addresses) => {
        running--;
        remember(hostname, { error, addresses: addresses ?? [], until: options.now() + (error ? KEEP_FAILED_MS : KEEP_MS) });
        const waiters = asked.get(hostname) ?? [];
        asked.delete(hostname);
        for (const waiter of waiters) waiter(error, addresses ?? []);
        next();
      });
    }
  }
  function remember(hostname: string, answer: Answer) {
    answers.delete(hostname);
    answers.set(hostname, answer);
    if (answers.size > MAX_NAMES) answers.delete(answers.keys().next().value!);
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
    queue.push(hostname);
    next();
  };
}

/** A `lookup` for `net.connect` that hands out only addresses that may be reached: what was checked is what is connected to. */
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
