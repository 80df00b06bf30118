/**
 * Answers for two thirds of what one costs that Node makes: a ready text is written to the connection, and there is no response
 * object, no header list and nothing to clear away. Two kinds of answer come often enough for that: that an event is
 * stored, and that there is too much to do. Whatever is out of the ordinary goes Node's way, from the start or, with what
 * is known by then, later.
 *
 * Node has no public place for this. The one that is used, the parser's `onIncoming`, is what its own server is called by;
 * where it should be missing one day, everything goes Node's way.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { okText, overloadedText } from './answer-texts.ts';
import { type BodySink, CollectionMessage } from './collection-message.ts';
import type { Exchange } from './exchange.ts';

type OnIncoming = (req: IncomingMessage, keepAlive: boolean) => number;
interface Parsed extends Socket {
  parser?: { onIncoming?: OnIncoming | null } | null;
}
/** What Node's server returns: the body is parsed like any other. */
const PARSE_BODY = 0;
/** A refused body may go on arriving for as long as this before the connection is cut. */
export const MAX_IGNORED_BYTES = 16 * 1_048_576;

export interface Judge {
  /** What becomes of a request that asks for nothing special, by its head. */
  judge(req: CollectionMessage): 'take' | 'refuse' | 'pass';
  /** One that is to be taken: makes the exchange, and sets it going. */
  take(req: CollectionMessage, connection: Connection): Exchange;
  begin(exchange: Exchange): void;
  /** Called for each that was refused here. */
  onRefused(): void;
}
export interface DirectAnswers {
  /** Sends the refusals that wait, and leaves whatever else is under way to Node. */
  stop(): void;
}

export function answerDirectly(server: Server, judge: Judge): DirectAnswers {
  const connections = new Set<Connection>();
  const refusals = new Refusals();
  server.on('connection', (socket: Parsed) => {
    const { parser } = socket;
    const onIncoming = parser?.onIncoming;
    if (!parser || !onIncoming) return;
    const connection = new Connection(socket, server.keepAliveTimeout, onIncoming, judge, refusals);
    parser.onIncoming = (req, keepAlive) => connection.onIncoming(req, keepAlive);
    connections.add(connection);
    socket.on('close', () => {
      connections.delete(connection);
      connection.closed();
    });
  });
  return {
    stop() {
      refusals.send();
      for (const connection of connections) connection.handOver();
    },
  };
}

/** One connection: at most one of its requests at a time is answered here, the last that came. */
export class Connection {
  readonly #socket: Socket;
  readonly #keepAliveMs: number;
  readonly #onIncoming: OnIncoming;
  readonly #judge: Judge;
  readonly #refusals: Refusals;
  #refusal: string | undefined;
  #taken: Exchange | undefined;

  constructor(socket: Socket, keepAliveMs: number, onIncoming: OnIncoming, judge: Judge, refusals: Refusals) {
    this.#socket = socket;
    this.#keepAliveMs = keepAliveMs;
    this.#onIncoming = onIncoming;
    this.#judge = judge;
    this.#refusals = refusals;
  }

  onIncoming(req: IncomingMessage, keepAlive: boolean): number {
    // Its client did not wait for the answer to the one before, which has to come first.
    if (this.#refusal !== undefined) this.sendRefusal();
    if (this.#taken !== undefined) this.handOver();
    else if (keepAlive && req instanceof CollectionMessage && isAtRest(this.#socket) && this.#answers(req)) return PARSE_BODY;
    return this.#onIncoming(req, keepAlive);
  }
  #answers(req: CollectionMessage): boolean {
    if ((req as { upgrade?: boolean }).upgrade) return false;
    const verdict = this.#judge.judge(req);
    if (verdict === 'pass') return false;
    if (verdict === 'refuse') return this.#refuses(req);
    const { host, expect } = req.headers;
    if (host === undefined || expect !== undefined) return false;
    this.#taken = this.#judge.take(req, this);
    this.#judge.begin(this.#taken);
    return true;
  }
  #refuses(req: CollectionMessage): boolean {
    const origin = plainOrigin(req);
    if (origin === undefined) return false;
    this.#judge.onRefused();
    req.divert(new IgnoredBody(this.#socket));
    this.#refusal = overloadedText(origin, this.#keepAliveMs);
    this.#refusals.add(this);
    return true;
  }

  sendRefusal(): void {
    if (this.#refusal !== undefined && this.#socket.writable) this.#socket.write(this.#refusal, 'latin1');
    this.#refusal = undefined;
  }
  /** The event is stored. */
  sendOk(origin: string | undefined): void {
    this.#taken = undefined;
    if (this.#socket.writable) this.#socket.write(okText(origin, this.#keepAliveMs), 'latin1');
  }
  /** Node makes a response after all, and the exchange is told of it. */
  handOver(): void {
    const exchange = this.#taken;
    if (exchange === undefined) return;
    this.#taken = undefined;
    exchange.req.exchange = exchange;
    this.#onIncoming(exchange.req, true);
  }
  closed(): void {
    this.#taken?.closed();
    this.#taken = undefined;
  }
}

/**
 * Refusals wait for the end of the turn: who hears of it at once sends again at once, and where a thousand connections are
 * ready libuv goes on reading, for seconds, before it lets anything else happen.
 */
class Refusals {
  #waiting: Connection[] = [];
  readonly send = () => {
    const sending = this.#waiting;
    this.#waiting = [];
    for (const connection of sending) connection.sendRefusal();
  };
  add(connection: Connection): void {
    if (this.#waiting.push(connection) === 1) setImmediate(this.send);
  }
}

/** Its last request is answered and the answer is out: Node's timeout for resting connections is set then, and only then. */
function isAtRest(socket: Socket): boolean {
  return socket.timeout !== undefined && socket.timeout > 0 && socket.writableLength === 0;
}

/** The origin, or `*`; undefined where the request asks for anything that only Node's server knows. Quicker than its headers. */
function plainOrigin({ rawHeaders }: IncomingMessage): string | undefined {
  let origin = '*';
  let host = false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length !== 4 && name.length !== 6) continue;
    const lower = name.toLowerCase();
    if (lower === 'host') host = true;
    else if (lower === 'expect') return undefined;
    else if (lower === 'origin') origin = rawHeaders[at + 1]!;
  }
  return host ? origin : undefined;
}

class IgnoredBody implements BodySink {
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
