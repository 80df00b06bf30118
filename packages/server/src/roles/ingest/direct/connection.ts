/** One connection: at most one of its requests is answered directly at a time, the latest. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { BodyReader } from '../exchange.ts';
import { MAX_IGNORED_BYTES } from '../exchange.ts';
import type { DirectHandler } from './index.ts';
import { overloadedText, successText } from './reply-texts.ts';
import { readBody } from './request.ts';
import { DirectResponder } from './responder.ts';

export type OnIncoming = (req: IncomingMessage, keepAlive: boolean) => number;
/** What Node's own `onIncoming` returns: the parser goes on to the body. */
const PARSE_BODY = 0;

export class DirectConnection {
  readonly #socket: Socket;
  readonly #keepAliveMs: number;
  readonly #nodeOnIncoming: OnIncoming;
  readonly #handler: DirectHandler;
  readonly #sheds: PendingSheds;
  #shedReply: string | undefined;
  #responder: DirectResponder | undefined;

  constructor(socket: Socket, keepAliveMs: number, nodeOnIncoming: OnIncoming, handler: DirectHandler, sheds: PendingSheds) {
    this.#socket = socket;
    this.#keepAliveMs = keepAliveMs;
    this.#nodeOnIncoming = nodeOnIncoming;
    this.#handler = handler;
    this.#sheds = sheds;
  }

  /** Replaces the parser's `onIncoming`. */
  onIncoming(req: IncomingMessage, keepAlive: boolean): number {
    // A pipelined request: the reply to the one before it must be sent first, or be in Node's queue of responses.
    if (this.#shedReply !== undefined) this.sendShedReply();
    if (this.#responder !== undefined) this.handOver();
    else if (keepAlive && isAtRest(this.#socket) && this.#handles(req)) return PARSE_BODY;
    return this.#nodeOnIncoming(req, keepAlive);
  }
  #handles(req: IncomingMessage): boolean {
    if ((req as { upgrade?: boolean }).upgrade) return false;
    const origin = originOfPlainRequest(req);
    if (origin === undefined) return false;
    const responder = new DirectResponder(this, req);
    this.#responder = responder;
    const result = this.#handler.receive(req, responder);
    if (result === 'taken') return true;
    this.#responder = undefined;
    if (result === 'pass') return false;
    readBody(req, new IgnoredBody(this.#socket));
    this.#shedReply = overloadedText(origin, this.#keepAliveMs);
    this.#sheds.add(this);
    return true;
  }

  sendShedReply(): void {
    if (this.#shedReply !== undefined && this.#socket.writable) this.#socket.write(this.#shedReply, 'latin1');
    this.#shedReply = undefined;
  }
  sendSuccess(origin: string | undefined): void {
    this.#responder = undefined;
    if (this.#socket.writable) this.#socket.write(successText(origin, this.#keepAliveMs), 'latin1');
  }
  /** Leaves the request in progress, if there is one, to Node. */
  handOver(): void {
    const responder = this.#responder;
    this.#responder = undefined;
    responder?.handOver(this.#nodeOnIncoming);
  }
  closed(): void {
    this.#responder?.closed();
    this.#responder = undefined;
  }
}

/**
 * Replies to shed requests are sent at the end of the event-loop turn. A client that hears of it at once sends again at once;
 * with a thousand ready connections libuv would keep reading for seconds before anything else runs.
 */
export class PendingSheds {
  #waiting: DirectConnection[] = [];
  readonly send = () => {
    const sending = this.#waiting;
    this.#waiting = [];
    for (const connection of sending) connection.sendShedReply();
  };
  add(connection: DirectConnection): void {
    if (this.#waiting.push(connection) === 1) setImmediate(this.send);
  }
}

/** Whether the last reply is sent completely. Node sets its keep-alive timeout then, and only then. */
function isAtRest(socket: Socket): boolean {
  return socket.timeout !== undefined && socket.timeout > 0 && socket.writableLength === 0;
}

/**
 * The origin, `*` where there is none; undefined for a request that needs Node (no Host, or an Expect header). Reads the raw
 * list, because a shed request should not pay for Node's header object.
 */
function originOfPlainRequest({ rawHeaders }: IncomingMessage): string | undefined {
  let origin = '*';
  let host = false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name === undefined || (name.length !== 4 && name.length !== 6)) continue;
    const lower = name.toLowerCase();
    if (lower === 'host') host = true;
    else if (lower === 'expect') return undefined;
    else if (lower === 'origin') origin = rawHeaders[at + 1] ?? '*';
  }
  return host ? origin : undefined;
}

class IgnoredBody implements BodyReader {
  readonly #socket: Socket;
  #size = 0;
  constructor(socket: Socket) {
    this.#socket = socket;
  }
  data(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > MAX_IGNORED_BYTES) this.#socket.destroy();
  }
  end(): void {}
}
