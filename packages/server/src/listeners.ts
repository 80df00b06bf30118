/** The listeners: collection paths first, on bare `node:http`; the management API behind them, or on a listener of its own. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from './config.ts';
import { errorReply, writeReply } from './http/collection-reply.ts';
import { replyToMalformedRequest } from './http/malformed-request.ts';
import { serverOptions } from './http/server-options.ts';
import type { Logger } from './runtime/logger.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => boolean;
export interface ListenerDeps {
  settings: Pick<Settings, 'port' | 'host' | 'ingestPort'>;
  logger: Logger;
  /** Each says whether it has answered, or will. */
  health: Handler;
  /** Collection endpoints and collector files. */
  collection: Handler[];
  /** What the listener of the collection paths needs: its request class, and a call with the listener before it listens. */
  ingest?: { requestClass: typeof IncomingMessage; attach(server: Server): void } | undefined;
  /** The management API: answers everything that comes to it. */
  admin: { handle(req: IncomingMessage, res: ServerResponse): void; attach(server: Server): void } | undefined;
}
export interface Listeners {
  addresses: { main: string; ingest: string | undefined };
  /** Takes no more connections; those under way end with their answer. */
  close(): Promise<void>;
}

export async function openListeners({ settings, logger, health, collection, ingest, admin }: ListenerDeps): Promise<Listeners> {
  const apart = settings.ingestPort !== undefined;
  const servers: Server[] = [];
  const onlyHealth = [health];
  async function open(
    variable: 'PORT' | 'INGEST_PORT',
    port: number,
    handlers: Handler[],
    last: (req: IncomingMessage, res: ServerResponse) => void,
  ): Promise<Server> {
    const shouldUpgradeCallback = (req: IncomingMessage) => server.listenerCount('upgrade') > 0 && wantsWebSocket(req);
    const servesCollection = handlers !== onlyHealth;
    const requestClass = servesCollection && ingest !== undefined ? { IncomingMessage: ingest.requestClass } : {};
    const server: Server = createServer({ ...serverOptions, ...requestClass, shouldUpgradeCallback }, (req, res) => {
      // Proxies may write the whole address into the request line.
      if (req.url?.startsWith('/') === false) req.url = pathOf(req.url);
      try {
        for (const handle of handlers) if (handle(req, res)) return;
        last(req, res);
      } catch (error) {
        // A throw in this listener would end the process; only this request may fail.
        logger.error({ err: error }, 'request handler threw');
        if (res.headersSent) res.destroy();
        else writeReply(res, errorReply({ code: 'internal_error' }, req.headers.origin));
      }
    });
    server.on('clientError', replyToMalformedRequest);
    if (servesCollection) ingest?.attach(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        reject(new Error(`${blamed(error, variable)}: ${error.message}`, { cause: error })),
      );
      server.listen(port, settings.host, resolve);
    });
    servers.push(server);
    return server;
  }
  const main = await open('PORT', settings.port, apart ? onlyHealth : [...collection, health], admin?.handle ?? nothingHere);
  admin?.attach(main);
  const separate = apart ? await open('INGEST_PORT', settings.ingestPort!, [...collection, health], nothingHere) : undefined;
  return {
    addresses: { main: addressOf(main), ingest: separate && addressOf(separate) },
    async close() {
      await Promise.all(
        servers.map(async (server) => {
          const closed = new Promise((resolve) => server.close(resolve));
          server.closeIdleConnections();
          // Connections that are between two requests when the last answer goes out are idle only now.
          const sweep = setInterval(() => server.closeIdleConnections(), 50);
          const cut = setTimeout(() => server.closeAllConnections(), 4_000);
          await closed;
          clearInterval(sweep);
          clearTimeout(cut);
        }),
      );
    },
  };
}

/** The setting that a listener failed for: a port that is taken or not ours to open, else the address. */
function blamed({ code }: NodeJS.ErrnoException, port: string): string {
  return code === 'EADDRINUSE' || code === 'EACCES' ? port : 'HOST';
}
/**
 * Only a WebSocket is a change of protocol here. Java's own client offers HTTP/2 with every plain request it sends
 * (`Upgrade: h2c`), and an offer may be passed over: such a request is one like any other.
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

function nothingHere(req: IncomingMessage, res: ServerResponse): void {
  writeReply(res, errorReply({ code: 'not_found' }, req.headers.origin));
}
