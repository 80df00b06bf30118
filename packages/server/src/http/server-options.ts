import type { ServerOptions } from 'node:http';

/** Limits against slow and hostile clients, for every listener. */
export const serverOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16_384,
  noDelay: true,
} as const satisfies ServerOptions;

/** For a server whose requests come from a listener with these limits. */
export const servedServerOptions = {
  ...serverOptions,
  headersTimeout: 0,
  requestTimeout: 0,
  keepAliveTimeout: 0,
  // The listener has refused HTTP/1.1 without a host, and passes HTTP/1.0 on as HTTP/1.1.
  requireHostHeader: false,
  // The listener has counted them before.
  maxHeaderSize: 2 * serverOptions.maxHeaderSize,
} as const satisfies ServerOptions;
