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
