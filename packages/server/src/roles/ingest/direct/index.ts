/**
 * Direct replies: the two most frequent replies (event stored, overloaded) are written to the socket as ready text. That is
 * about a third cheaper than `ServerResponse`. Everything else goes through Node, from the start or later in the request.
 *
 * Node has no public API for this. This directory replaces the parser's `onIncoming`, which Node's own server is called by.
 * Where a version of Node lacks it, every request goes through Node.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Responder } from '../responder.ts';
import { DirectConnection, type OnIncoming, PendingSheds } from './connection.ts';

export { CollectionRequest, readBody } from './request.ts';
export { adoptResponse } from './responder.ts';

interface ParsedSocket extends Socket {
  parser?: { onIncoming?: OnIncoming | null } | null;
}
export interface DirectHandler {
  /** `taken`: will be answered through `responder`; `shed`: to be answered 503; `pass`: left to Node. */
  receive(req: IncomingMessage, responder: Responder): 'taken' | 'shed' | 'pass';
}
export interface DirectReplies {
  /** Sends pending 503 replies and leaves requests in progress to Node. */
  stop(): void;
}

export function replyDirectly(server: Server, handler: DirectHandler): DirectReplies {
  const connections = new Set<DirectConnection>();
  const sheds = new PendingSheds();
  server.on('connection', (socket: ParsedSocket) => {
    const { parser } = socket;
    const onIncoming = parser?.onIncoming;
    if (!parser || !onIncoming) return;
    const connection = new DirectConnection(socket, server.keepAliveTimeout, onIncoming, handler, sheds);
    parser.onIncoming = (req, keepAlive) => connection.onIncoming(req, keepAlive);
    connections.add(connection);
    socket.on('close', () => {
      connections.delete(connection);
      connection.closed();
    });
  });
  return {
    stop() {
      sheds.send();
      for (const connection of connections) connection.handOver();
    },
  };
}
