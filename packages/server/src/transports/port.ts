/**
 * How batches leave. HTTP is built in; other transports are drivers behind this port, loaded when an integration first needs
 * one. Batching, rate limits, retries, dead letters and traces are the same for all of them. Every driver passes
 * `testing/conformance.ts`.
 */

import type { LookupFunction } from 'node:net';
import type { ChainProgress } from '@firsthand/core/vendor/chain.ts';
import type { VendorReply, Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import type { GuardedClient } from '../outbound/guarded-client.ts';
import type { TokenCache } from '../outbound/tokens.ts';
import type { Clock } from '../runtime/clock.ts';

/** The result of one attempt at one batch. */
export interface Sent {
  verdict: Verdict;
  /** The HTTP status; null where there was no response, and for drivers. */
  status: number | null;
  /** When the attempt began, milliseconds since 1970. */
  at: number;
  duration_ms: number;
  /** The request could not be built. In a batch it is unknown which item is the cause. */
  unbuildable?: true;
  /** HTTP only. */
  reply?: VendorReply | undefined;
  /** Chains only: the steps that are done, for the next attempt. */
  progress?: ChainProgress;
}

export interface HttpDeps {
  client: GuardedClient;
  tokens: TokenCache;
  clock: Clock;
}

/** An open connection to one destination. */
export interface Transport {
  /**
   * Sends records of one target. Resolves with one verdict for all, or `partial` with one per record in order; never rejects for
   * a fault of the destination or the records. `delivered` means that the destination stored the record durably. A record that
   * comes again with the same event id is stored once where the destination can tell: tables replace the row, streams with
   * deduplication keep the first. Ends within `timeout_ms`. A driver of a sealed definition gets a batch that comes again with the
   * same records in the same order, stores it once, and never answers `partial`.
   */
  send(records: readonly TransportRecord[], options: { timeout_ms: number }): Promise<Verdict>;
  /** Resolves when no connection is left. */
  close(): Promise<void>;
}
export interface DriverOptions {
  /** For every connection: resolves names and refuses addresses that integrations may not reach. */
  lookup: LookupFunction;
  allowPrivateDestinations: boolean;
  /** For drivers whose destination speaks HTTP. */
  http: HttpDeps;
}
/** Opens nothing on the network: the first `send` connects. Throws where the settings make no sense. */
export type OpenTransport = (connection: Readonly<Record<string, string>>, options: DriverOptions) => Transport;
