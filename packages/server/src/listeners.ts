/**
 * Opens the listeners. One listener serves everything: collection paths first, on bare `node:http`, then the management API.
 * INGEST_PORT moves the collection paths to a listener of their own.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from './config.ts';
import { isAdminPath, writeApiError } from './http/api-error-reply.ts';
import { errorReply, writeReply } from './http/collection-reply.ts';
import { ApiError } from './http/errors.ts';
import { JoinedRequest } from './http/joined-request.ts';
import { replyToMalformedRequest } from './http/malformed-request.ts';
import { serverOptions } from './http/server-options.ts';
import type { Logger } from './runtime/logger.ts';

/** How long requests in flight may take after the listener closed. */
const CUT_AFTER_MS = 4_000;

type Handler = (req: IncomingMessage, res: ServerResponse) => boolean;
export interface ListenerDeps {
  settings: Pick<Settings, 'port' | 'host' | 'ingestPort' | 'metricsPort'>;
  logger: Logger;
  /** Health and metrics. Returns whether it takes the request. */
  health: Handler;
  /** The same for the listener on METRICS_PORT. */
  metrics: Handler;
  /** Collection endpoints and collector files. */
  collection: Handler[];
  /** The collection listener uses this request class, and is passed to `attach` before it listens. */
  ingest?: { requestClass: typeof IncomingMessage; attach(server: Server): void } | undefined;
  /** The management API answers every request, unknown paths with 404. */
  admin: Admin | undefined;
}
export interface Admin {
  handle(req: IncomingMessage, res: ServerResponse): void;
  attach(server: Server): void;
  /** Closes its WebSockets: `node:http` waits for them and never closes one. */
  detach(): void;
}
/** Takes the place of the management API until it can start: answers 503 while PostgreSQL is unavailable at the start. */
export interface AdminSlot extends Admin {
  fill(admin: Admin): void;
}
export function createAdminSlot(): AdminSlot {
  let admin: Admin | undefined;
  const servers: Server[] = [];
  return {
    handle(req, res) {
      if (admin === undefined) writeApiError(req, res, new ApiError('UNAVAILABLE', { retryAfterS: 2 }));
      else admin.handle(req, res);
    },
    attach(server) {
      servers.push(server);
      admin?.attach(server);
    },
    fill(started) {
      admin = started;
      for (const server of servers) admin.attach(server);
    },
    detach: () => admin?.detach(),
  };
}
/** For collection paths while ingest has no configuration: senders keep their events and retry. */
export function refuseCollection(req: IncomingMessage, res: ServerResponse): boolean {
  if (isAdminPath(req.url)) return false;
  writeReply(res, errorReply({ code: 'overloaded', retryAfterS: 2 }, req.headers.origin));
  return true;
}

export interface Listeners {
  addresses: { main: string; ingest: string | undefined };
  /** From now on every answer closes its connection, also to a request in flight, so that clients move to another process before `close`. */
  drain(): void;
  /** Accepts no more connections. Requests in flight get their answer, then their connection closes. */
  close(): Promise<void>;
}

export async function openListeners({ settings, logger, health, metrics, collection, ingest, admin }: ListenerDeps): Promise<Listeners> {
  const { ingestPort } = settings;
  const servers: Server[] = [];
  /** Answers that `drain` still has to mark. Ingest marks its own. */
  const answering = new Set<ServerResponse>();
  let draining = false;
  async function open(
    variable: 'PORT' | 'INGEST_PORT' | 'METRICS_PORT',
    port: number,
    handlers: Handler[],
    last: (req: IncomingMessage, res: ServerResponse) => void,
  ): Promise<Server> {
    const shouldUpgradeCallback = (req: IncomingMessage) => server.listenerCount('upgrade') > 0 && wantsWebSocket(req);
    const servesCollection = handlers.some((handler) => collection.includes(handler));
    const requestClass = servesCollection && ingest !== undefined ? ingest.requestClass : JoinedRequest;
    const server: Server = createServer({ ...serverOptions, IncomingMessage: requestClass, shouldUpgradeCallback }, (req, res) => {
      if (draining) res.shouldKeepAlive = false;
      try {
        // Some proxies write the whole URL into the request line.
        if (req.url?.startsWith('/') === false) req.url = pathOf(req.url);
        for (const handle of handlers) if (handle(req, res)) return;
        answering.add(res);
        res.once('close', () => answering.delete(res));
        last(req, res);
      } catch (error) {
        // A throw in this listener would end the process; only this request may fail.
        logger.error({ err: error }, 'request handler threw');
        if (res.headersSent) res.destroy();
        else if (isAdminPath(req.url)) writeApiError(req, res, new ApiError('INTERNAL_ERROR'));
        else writeReply(res, errorReply({ code: 'internal_error' }, req.headers.origin));
      }
    });
    server.on('clientError', replyToMalformedRequest);
    if (servesCollection) ingest?.attach(server);
    await new Promise<void>((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException) => reject(new Error(listenFault(error, variable, port), { cause: error }));
      server.once('error', onError);
      server.listen(port, settings.host, () => {
        server.off('error', onError);
        resolve();
      });
    });
    // A connection that cannot be accepted (no file descriptor, no memory) must not end the process: others go on.
    server.on('error', (error) => logger.error({ err: error }, 'connection not accepted'));
    servers.push(server);
    return server;
  }
  const main = await open('PORT', settings.port, ingestPort === undefined ? [...collection, health] : [health], admin?.handle ?? notFound);
  admin?.attach(main);
  const separate = ingestPort === undefined ? undefined : await open('INGEST_PORT', ingestPort, [...collection, health], notFound);
  if (settings.metricsPort !== undefined) await open('METRICS_PORT', settings.metricsPort, [metrics], notFound);
  return {
    addresses: { main: addressOf(main), ingest: separate && addressOf(separate) },
    drain() {
      draining = true;
      for (const res of answering) res.shouldKeepAlive = false;
    },
    async close() {
      draining = true;
      admin?.detach();
      await Promise.all(
        servers.map(async (server) => {
          let cut: NodeJS.Timeout | undefined;
          const late = new Promise((resolve) => (cut = setTimeout(resolve, CUT_AFTER_MS)));
          const closed = new Promise((resolve) => server.close(resolve));
          server.closeIdleConnections();
          // A connection counts as idle only after its last answer is sent.
          const sweep = setInterval(() => server.closeIdleConnections(), 50);
          // Not `closed` alone: a WebSocket whose client does not answer the close would hold up the rest of the stop.
          await Promise.race([closed, late]);
          server.closeAllConnections();
          clearInterval(sweep);
          clearTimeout(cut);
        }),
      );
    },
  };
}

/** A start that takes longer waits for a server. */
const SOON_MS = 1_000;

/** Opens listeners while the start waits: a supervisor finds the process alive, and senders are told to retry. They close when it goes on. */
export async function answerMeanwhile<T>(starting: Promise<T>, open: () => Promise<Pick<Listeners, 'close'>>): Promise<T> {
  const failed = Promise.withResolvers<never>();
  let opening: ReturnType<typeof open> | undefined;
  const soon = setTimeout(() => {
    opening = open();
    opening.catch(failed.reject);
  }, SOON_MS);
  try {
    return await Promise.race([starting, failed.promise]);
  } finally {
    clearTimeout(soon);
    await (await opening)?.close();
  }
}

/** Names the setting to correct: the port where it is taken or forbidden, else the address. */
function listenFault({ code, message }: NodeJS.ErrnoException, variable: string, port: number): string {
  if (code === 'EADDRINUSE') return `${variable}: port ${port} is in use: stop the program that uses it, or set another ${variable}`;
  if (code === 'EACCES') return `${variable}: no permission to listen on port ${port}: set a port above 1023`;
  return `HOST: ${message}`;
}
/**
 * Only WebSocket upgrades are accepted. Java's HTTP client offers HTTP/2 with every request (`Upgrade: h2c`); a server may ignore
 * the offer and answer the request as usual.
 */
function wantsWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}
function pathOf(address: string): string {
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(address)?.[1];
  return path === undefined || path.startsWith('/') ? (path ?? address) : `/${path}`;
}
function addressOf(server: Server): string {
  const { port, address, family } = server.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

function notFound(req: IncomingMessage, res: ServerResponse): void {
  if (isAdminPath(req.url)) writeApiError(req, res, new ApiError('NOT_FOUND', { message: 'There is nothing at this address.' }));
  else writeReply(res, errorReply({ code: 'not_found' }, req.headers.origin));
}
