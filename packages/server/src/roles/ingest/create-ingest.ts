/** The ingest role: answers collection paths on a bare `node:http` listener, its own or one shared with the management API. */
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { sendOk, sendPreflight } from './answers.ts';
import { createProxies } from './client-address.ts';
import { collect } from './collect.ts';
import { CollectionMessage } from './collection-message.ts';
import type { IngestContext, IngestDeps } from './context.ts';
import { createCounts } from './counts.ts';
import { answerDirectly, type DirectAnswers, type Judge } from './direct-answers.ts';
import { Exchange } from './exchange.ts';
import { Gate, type GateLimits } from './gate.ts';
import { collectPixel } from './pixel.ts';
import { createRateLimiter } from './rate-limiter.ts';
import { findRoute } from './routes.ts';
import { receiveWebhook } from './webhook/receive.ts';

const DRAIN_MS = 5_000;

export interface Ingest {
  /** True where the path is a collection path: the request is answered, now or later. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
  /** For the listener that `handle` is mounted on, before it has connections: usual answers go there directly. */
  attach(server: Server): void;
  /** Waits for requests under way, writes the last counts. Stop listening first. */
  stop(): Promise<void>;
  /** Every answer from now on ends its connection. */
  drain(): void;
}

/** Bounds for slow and hostile clients; for the listener that `handle` is mounted on. */
export const serverOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16_384,
  noDelay: true,
  IncomingMessage: CollectionMessage,
} as const satisfies ServerOptions;

export function createIngest(deps: IngestDeps, limits?: GateLimits): Ingest {
  const ctx: IngestContext = {
    ...deps,
    gate: new Gate(limits),
    limiter: createRateLimiter(deps.clock),
    counts: createCounts(deps.log, deps.clock, deps.logger, deps.onCounts),
    proxies: createProxies(deps.settings.trustProxy, deps.settings.ingestUrl),
    draining: false,
  };
  let direct: DirectAnswers | undefined;
  const forget = deps.snapshots.onChange((snapshot) => ctx.limiter.keep(snapshot.pipelines));

  function begin(exchange: Exchange): void {
    const { req, route } = exchange;
    try {
      if (req.method !== route.method) exchange.refuse({ code: 'method_not_allowed', allow: `${route.method}, OPTIONS` });
      else if (route.kind === 'webhook') receiveWebhook(exchange);
      else if (route.kind === 'pixel') collectPixel(exchange);
      else collect(exchange);
    } catch (error) {
      ctx.logger.error({ err: error }, 'unexpected error while taking an event in');
      exchange.refuse({ code: 'internal_error' });
    }
  }
  const judge: Judge = {
    judge(req) {
      if (ctx.draining) return 'pass';
      const route = findRoute(req.url ?? '');
      // Inbound webhooks are not shed: their senders read a 503 as a failure of the address.
      if (route === undefined || route.kind === 'webhook' || route.method !== req.method) return 'pass';
      req.route = route;
      req.isLetIn = !ctx.gate.refuses();
      if (!req.isLetIn) return 'refuse';
      return route.kind === 'event' ? 'take' : 'pass';
    },
    take: (req, connection) => new Exchange(ctx, req, req.route!, connection),
    begin,
    onRefused: () => ctx.counts.rejected('overloaded', undefined),
  };
  return {
    handle(req, res) {
      if (!(req instanceof CollectionMessage)) throw new TypeError('collection paths need a listener that is made with serverOptions');
      if (req.exchange !== undefined) {
        req.exchange.adopt(res);
        return true;
      }
      const route = req.route ?? findRoute(req.url ?? '');
      if (route === undefined) return false;
      if (req.method === 'OPTIONS') sendPreflight(req, res);
      // Some services ask for the address with HEAD before they accept it as a webhook's.
      else if (req.method === 'HEAD' && route.kind === 'webhook') sendOk(res, req.headers.origin, undefined);
      else begin(new Exchange(ctx, req, route, res));
      return true;
    },
    attach(server) {
      direct = answerDirectly(server, judge);
    },
    drain() {
      ctx.draining = true;
      direct?.stop();
    },
    async stop() {
      ctx.draining = true;
      forget();
      await ctx.gate.idle(DRAIN_MS);
      await ctx.counts.stop();
    },
  };
}
