/** Where the reply to one request goes. `NodeResponder` writes Node's response; `direct/` writes to the socket. */
import type { ServerResponse } from 'node:http';
import { type Reply, writeReply, writeSuccess } from '../../http/collection-reply.ts';

/** `close`: whether the connection ends with this reply. */
export interface Responder {
  /** The reply to a stored event, `{"success":true}`. */
  sendSuccess(origin: string | undefined, cookies: readonly string[] | undefined, close: boolean): void;
  send(reply: Reply, close: boolean): void;
  /** Calls `listener.closed()` when the response or its connection is closed, also where the client went away before the reply. */
  watchClose(listener: CloseListener): void;
}
export interface CloseListener {
  closed(): void;
}

export class NodeResponder implements Responder {
  readonly #res: ServerResponse;
  constructor(res: ServerResponse) {
    this.#res = res;
  }
  sendSuccess(origin: string | undefined, cookies: readonly string[] | undefined, close: boolean): void {
    if (close) this.#res.shouldKeepAlive = false;
    writeSuccess(this.#res, origin, cookies);
  }
  send(reply: Reply, close: boolean): void {
    if (close) this.#res.shouldKeepAlive = false;
    writeReply(this.#res, reply);
  }
  watchClose(listener: CloseListener): void {
    this.#res.on('close', () => listener.closed());
  }
}
