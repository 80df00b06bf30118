/**
 * Refusals under overload, for two thirds of what an answer costs that Node makes: a ready text is written to the connection as
 * soon as the request's head is read, and there is no response object, no header list and no body to read. Whatever is out
 * of the ordinary goes Node's way, and is refused there.
 *
 * Node has no public place for this. The one that is used, the parser's `onIncoming`, is what its own server is called by;
 * where it should be missing one day, everything goes Node's way.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { COLLECTION_ERRORS } from '../../http/errors.ts';
import { corsHeaders } from './answers.ts';
import { type BodySink, CollectionMessage } from './collection-message.ts';
import { OVERLOADED } from './overloaded.ts';

type OnIncoming = (req: IncomingMessage, keepAlive: boolean) => number;
interface Parsed extends Socket {
  parser?: { onIncoming?: OnIncoming | null } | null;
}
/** What Node's server returns: the body is parsed like any other. */
const PARSE_BODY = 0;
/** A refused body may go on arriving for as long as this before the connection is cut. */
export const MAX_IGNORED_BYTES = 16 * 1_048_576;
const REMEMBERED = 2_000;

export interface Judge {
  /** Whether this one is too much. */
  refuses(req: CollectionMessage): boolean;
  /** Called for each that was refused here. */
  onRefused(): void;
}

/**
 * Returns what sends the refusals that wait. They wait for the end of the turn: who hears of it at once sends again at once,
 * and where a thousand connections are ready libuv goes on reading, for seconds, before it lets anything else happen.
 */
export function refuseQuickly(server: Server, judge: Judge): () => void {
  let waiting: (() => void)[] = [];
  function sendAll(): void {
    const sending = waiting;
    waiting = [];
    for (const send of sending) send();
  }
  server.on('connection', (socket: Parsed) => {
    const { parser } = socket;
    const onIncoming = parser?.onIncoming;
    if (!parser || !onIncoming) return;
    let text: string | undefined;
    const send = () => {
      if (text !== undefined && socket.writable) socket.write(text, 'latin1');
      text = undefined;
    };
    parser.onIncoming = (req, keepAlive) => {
      // Its client did not wait for the answer, which has to come first.
      if (text !== undefined) send();
      if (!keepAlive || !isAtRest(socket) || !(req instanceof CollectionMessage) || !judge.refuses(req)) return onIncoming(req, keepAlive);
      const origin = plainOrigin(req);
      if (origin === undefined) return onIncoming(req, keepAlive);
      judge.onRefused();
      req.divert(new IgnoredBody(socket));
      text = textFor(origin, server.keepAliveTimeout);
      if (waiting.push(send) === 1) setImmediate(sendAll);
      return PARSE_BODY;
    };
  });
  return sendAll;
}

/** Its last request is answered and the answer is out: Node's timeout for resting connections is set then, and only then. */
function isAtRest(socket: Socket): boolean {
  return socket.timeout !== undefined && socket.timeout > 0 && socket.writableLength === 0;
}

/** The origin, or `*`; undefined where the request asks for anything that only Node's server knows. */
function plainOrigin(req: IncomingMessage): string | undefined {
  if ((req as { upgrade?: boolean }).upgrade) return undefined;
  let origin = '*';
  let host = false;
  const { rawHeaders } = req;
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

const texts = new Map<string, string>();
function textFor(origin: string, keepAliveMs: number): string {
  let text = texts.get(origin);
  if (text !== undefined) return text;
  const { status, message } = COLLECTION_ERRORS[OVERLOADED.code];
  const body = JSON.stringify({ error: OVERLOADED.code, message });
  const cors = corsHeaders(origin);
  text = [
    `HTTP/1.1 ${status} Service Unavailable`,
    'Content-Type: application/json',
    ...Array.from({ length: cors.length / 2 }, (_, at) => `${cors[at * 2]}: ${cors[at * 2 + 1]}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Retry-After: ${OVERLOADED.retryAfterS}`,
    'Connection: keep-alive',
    `Keep-Alive: timeout=${Math.floor(keepAliveMs / 1_000)}`,
    '',
    body,
  ].join('\r\n');
  if (texts.size >= REMEMBERED) texts.clear();
  texts.set(origin, text);
  return text;
}
