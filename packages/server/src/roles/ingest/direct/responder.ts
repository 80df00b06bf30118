import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Reply } from '../../../http/collection-reply.ts';
import { type CloseListener, NodeResponder, type Responder } from '../responder.ts';
import type { DirectConnection, OnIncoming } from './connection.ts';

/** Requests that Node is about to make a response for, by request object. */
const handedOver = new WeakMap<IncomingMessage, DirectResponder>();

/** Writes the plain success to the socket. Every other reply is Node's: its response is made when it is needed. */
export class DirectResponder implements Responder {
  readonly #connection: DirectConnection;
  readonly #req: IncomingMessage;
  #listener: CloseListener | undefined;
  #node: NodeResponder | undefined;

  constructor(connection: DirectConnection, req: IncomingMessage) {
    this.#connection = connection;
    this.#req = req;
  }
  sendSuccess(origin: string | undefined, cookies: readonly string[] | undefined, close: boolean): void {
    if (this.#node === undefined && cookies === undefined && !close) this.#connection.sendSuccess(origin);
    else this.#byNode().sendSuccess(origin, cookies, close);
  }
  send(reply: Reply, close: boolean): void {
    this.#byNode().send(reply, close);
  }
  watchClose(listener: CloseListener): void {
    this.#listener = listener;
    this.#node?.watchClose(listener);
  }
  closed(): void {
    this.#listener?.closed();
  }
  /** Makes Node emit `request` for this request; the listener passes it to `adopt`. */
  handOver(nodeOnIncoming: OnIncoming): void {
    handedOver.set(this.#req, this);
    nodeOnIncoming(this.#req, true);
  }
  adopt(res: ServerResponse): void {
    this.#node = new NodeResponder(res);
    if (this.#listener !== undefined) this.#node.watchClose(this.#listener);
  }
  #byNode(): NodeResponder {
    if (this.#node === undefined) this.#connection.handOver();
    if (this.#node === undefined) throw new Error('Node made no response for a request that was handed over');
    return this.#node;
  }
}

/** True where the request is in progress already and only needed this response. */
export function adoptResponse(req: IncomingMessage, res: ServerResponse): boolean {
  const responder = handedOver.get(req);
  if (responder === undefined) return false;
  handedOver.delete(req);
  responder.adopt(res);
  return true;
}
