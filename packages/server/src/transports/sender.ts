/** Sends a batch by the way its vendor asks for: one HTTP request, a chain of them, a poll, or a driver. */
import type { ChainProgress } from '@firsthand/core/vendor/chain.ts';
import type { CompiledVendor, VendorItem, Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { CompiledTransport } from '@firsthand/core/vendor/transport.ts';
import { createResolver, guardedLookup } from '../outbound/resolver.ts';
import { errorText } from '../runtime/error-text.ts';
import { Chains } from './chain.ts';
import { DRIVERS } from './drivers.ts';
import { attemptCall, sendBatch } from './http.ts';
import type { DriverOptions, HttpDeps, Sent, Transport } from './port.ts';

export interface SendPlan {
  vendor: CompiledVendor;
  items: VendorItem[];
  /** Drivers: each integration has its own connections, so that none waits for another's. Absent for a trial, whose connection is closed after it. */
  integration_id?: string;
  /** 1 on the first attempt. */
  attempt: number;
  progress?: ChainProgress | undefined;
  /** Ask for the result of this job instead of sending the items. */
  job?: string | undefined;
}
export interface Sender {
  /** Never rejects: a fault of one integration must not end the process. */
  send(plan: SendPlan, requestId: string): Promise<Sent>;
  close(): Promise<void>;
}

/** Connections that were not used for this long are closed. */
const IDLE_MS = 300_000;
const SWEEP_MS = 60_000;

export function driverOptions(deps: HttpDeps & { allowPrivateDestinations: boolean }): DriverOptions {
  const { client, tokens, clock, allowPrivateDestinations } = deps;
  const lookup = guardedLookup(createResolver({ now: () => clock.monotonic() }), allowPrivateDestinations);
  return { lookup, allowPrivateDestinations, http: { client, tokens, clock } };
}

export function createSender(deps: HttpDeps & { allowPrivateDestinations: boolean }): Sender {
  const { clock } = deps;
  const chains = new Chains(deps);
  const options = driverOptions(deps);
  const open = new Map<string, { transport: Promise<Transport>; usedAt: number; inUse: number }>();
  const sweep = setInterval(() => {
    for (const [key, entry] of open) {
      if (entry.inUse > 0 || clock.monotonic() - entry.usedAt < IDLE_MS) continue;
      open.delete(key);
      void closeQuietly(entry.transport);
    }
  }, SWEEP_MS).unref();

  async function sendByDriver({ vendor, items, integration_id }: SendPlan, { kind, connection, record }: CompiledTransport): Promise<Sent> {
    const at = clock.now();
    const began = clock.monotonic();
    const key = JSON.stringify([integration_id, kind, connection]);
    // Trials may come with any settings: keeping their connections would let a caller open any number of them.
    const isTrial = integration_id === undefined;
    let entry = isTrial ? undefined : open.get(key);
    if (!entry) {
      entry = { transport: DRIVERS[kind]().then((driver) => driver(connection, options)), usedAt: began, inUse: 0 };
      if (!isTrial) open.set(key, entry);
    }
    entry.inUse++;
    let verdict: Verdict;
    try {
      verdict = await (await entry.transport).send(items.map(record), { timeout_ms: vendor.timeout_ms });
    } catch (error) {
      open.delete(key);
      verdict = { kind: 'unavailable', reason: errorText(error) };
    }
    entry.inUse--;
    entry.usedAt = clock.monotonic();
    if (isTrial) void closeQuietly(entry.transport);
    return { verdict, status: null, at, duration_ms: Math.round(clock.monotonic() - began) };
  }

  function poll({ vendor, items, attempt }: SendPlan, job: string, request_id: string): Promise<Sent> {
    const found = vendor.poll?.(items);
    if (!found) throw new Error('this vendor has no jobs to poll');
    return attemptCall(
      {
        token: found.token,
        timeout_ms: vendor.timeout_ms,
        context: { attempt, request_id, job },
        request: (context) => found.request(items, context),
        read: (reply, context) => found.read(reply, items, context),
      },
      deps,
    );
  }

  function sendPlan(plan: SendPlan, requestId: string): Promise<Sent> {
    const { vendor, items, attempt, progress, job } = plan;
    if (job !== undefined) return poll(plan, job, requestId);
    if (vendor.transport) return sendByDriver(plan, vendor.transport);
    const [item] = items;
    if (vendor.chain && item) return chains.send({ vendor, item, attempt, progress }, requestId);
    return sendBatch(plan, requestId, deps);
  }

  return {
    async send(plan, requestId) {
      const at = clock.now();
      const began = clock.monotonic();
      try {
        return await sendPlan(plan, requestId);
      } catch (error) {
        const verdict = { kind: 'unavailable', reason: `the request broke: ${errorText(error)}` } as const;
        return { verdict, status: null, at, duration_ms: Math.round(clock.monotonic() - began), unbuildable: true };
      }
    },
    async close() {
      clearInterval(sweep);
      await Promise.all([...open.values()].map(({ transport }) => closeQuietly(transport)));
      open.clear();
    },
  };
}

/** Nothing is sent over it any more, so a transport that was never opened, or does not close well, is no fault. */
async function closeQuietly(transport: Promise<Transport>): Promise<void> {
  await transport.then((opened) => opened.close()).catch(() => undefined);
}
