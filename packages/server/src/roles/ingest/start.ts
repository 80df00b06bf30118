/** The ingest role: serves the collection paths on a plain `node:http` listener, its own or shared with the management API. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { errorReply, writeReply, writeSuccess } from '../../http/collection-reply.ts';
import { preflightHeaders } from '../../http/cors.ts';
import { Capacity, type CapacityLimits } from './capacity.ts';
import { createProxies } from './client-address.ts';
import { collect } from './collect.ts';
import { startConsumers } from './consumers/start.ts';
import { createCounts } from './counts.ts';
import type { IngestContext, IngestDeps } from './deps.ts';
import { adoptResponse, CollectionRequest, type DirectHandler, type DirectReplies, readBody, replyDirectly } from './direct/index.ts';
import { Exchange, OVERLOADED } from './exchange.ts';
import { FairAdmission } from './fair-admission.ts';
import { collectPixel } from './pixel.ts';
import { createRateLimiter } from './rate-limiter.ts';
import { keepRejectedEvents } from './rejected-events.ts';
import { NodeResponder } from './responder.ts';
import { findRoute, isCollectionPath, type Route } from './routes.ts';
import { replySettings } from './sdk-settings.ts';
import { TurnShares } from './turn-shares.ts';
import { receiveWebhook } from './webhook/receive.ts';

const DRAIN_MS = 5_000;

export interface IngestRole {
  /** True for a collection path: the request is answered, now or later. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
  /** For the options of the listener that `handle` serves: reads bodies without a stream. */
  requestClass: typeof IncomingMessage;
  /** Call with that listener before it has connections: frequent replies are then written directly to the socket. */
  attach(server: Server): void;
  /** Writes rejected events that wait in memory. */
  flushRejected(): Promise<void>;
  /** From now on every reply closes its connection. */
  drain(): void;
  /** Waits up to `graceMs` for requests in flight and writes the last counts. Stop listening first. */
  stop(graceMs?: number): Promise<void>;
}

export function startIngest(deps: IngestDeps, limits?: CapacityLimits): IngestRole {
  const ctx: IngestContext = {
    ...deps,
    capacity: new Capacity(limits),
    turnShares: new TurnShares(),
    fairAdmission: new FairAdmission(),
    limiter: createRateLimiter(deps.rateLimits),
    counts: createCounts(deps.log, deps.clock, deps.logger, deps.onCounts),
    rejectedEvents: keepRejectedEvents({ ...deps, retentionMs: deps.settings.deadLetterRetentionMs }),
    proxies: createProxies(deps.settings.trustProxy, deps.settings.ingestUrl),
    readBody,
    draining: false,
  };
  let direct: DirectReplies | undefined;
  const consumers = deps.consumers ? startConsumers(ctx, deps.consumers) : undefined;
  let consumed: Promise<void> | undefined;
  const stopConsumers = () => (consumed ??= consumers?.stop() ?? Promise.resolve());

  function begin(exchange: Exchange): void {
    try {
      if (exchange.route.kind === 'webhook') receiveWebhook(exchange);
      else if (exchange.route.kind === 'pixel') collectPixel(exchange);
      else if (exchange.route.kind === 'settings') replySettings(exchange);
      else collect(exchange);
    } catch (error) {
      exchange.fail(error);
    }
  }
  const directHandler: DirectHandler = {
    receive(req, responder) {
      const route = ctx.draining ? undefined : findRoute(req.url ?? '');
      if (route === undefined || !isSheddable(route) || route.method !== req.method) return 'pass';
      if (ctx.capacity.sheds()) {
        ctx.counts.rejected(OVERLOADED.code, undefined);
        return 'shed';
      }
      begin(new Exchange(ctx, req, route, responder));
      return 'taken';
    },
  };
  return {
    requestClass: CollectionRequest,
    handle(req, res) {
      if (adoptResponse(req, res)) return true;
      const route = findRoute(req.url ?? '');
      if (route === undefined) return replyNotFound(req, res);
      if (req.method === 'OPTIONS') replyPreflight(req, res);
      // Some providers check the address with HEAD before they accept it for a webhook.
      else if (req.method === 'HEAD' && route.kind === 'webhook') writeSuccess(res, req.headers.origin);
      else {
        const exchange = new Exchange(ctx, req, route, new NodeResponder(res));
        if (req.method !== route.method) exchange.reject({ code: 'method_not_allowed', allow: `${route.method}, OPTIONS` });
        else if (isSheddable(route) && ctx.capacity.sheds()) exchange.reject(OVERLOADED);
        else begin(exchange);
      }
      return true;
    },
    attach(server) {
      direct = replyDirectly(server, directHandler);
    },
    flushRejected: () => ctx.rejectedEvents.flush(),
    drain() {
      ctx.draining = true;
      direct?.stop();
      // Another process takes the sources over at once.
      stopConsumers().catch((error: unknown) => ctx.logger.warn({ err: error }, 'sources not stopped cleanly'));
    },
    async stop(graceMs = DRAIN_MS) {
      ctx.draining = true;
      ctx.fairAdmission.stop();
      await stopConsumers();
      await ctx.capacity.idle(graceMs);
      await Promise.all([ctx.counts.stop(), ctx.rejectedEvents.stop()]);
    },
  };
}

/** Inbound webhooks are not shed: their senders take a 503 for a broken address. */
function isSheddable(route: Route): boolean {
  return route.kind !== 'webhook';
}

function replyPreflight(req: IncomingMessage, res: ServerResponse): void {
  const { origin, 'access-control-request-headers': asked } = req.headers;
  res.writeHead(204, preflightHeaders(origin, 'POST, OPTIONS', asked));
  res.end();
}

/** False for a path that is not ours. A 404 without CORS headers would reach a browser's script as a network error. */
function replyNotFound(req: IncomingMessage, res: ServerResponse): boolean {
  if (!isCollectionPath(req.url ?? '')) return false;
  if (req.method === 'OPTIONS') replyPreflight(req, res);
  else writeReply(res, errorReply({ code: 'not_found' }, req.headers.origin));
  return true;
}
