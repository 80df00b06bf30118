/** Passes requests on to a server behind a stream of bytes, as a reverse proxy does. */
import { type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { freeBytes } from '../runtime/free-bytes.ts';
import type { ThreadSocket } from '../runtime/thread-socket.ts';

/** Of one connection, not of the message. `Transfer-Encoding` stays on requests: it tells that there is a body. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'te', 'trailer', 'expect']);
const OF_RESPONSE_CONNECTION: ReadonlySet<string> = new Set([...OF_CONNECTION, 'transfer-encoding']);

export type OpenConnection = (remoteAddress: string | undefined) => ThreadSocket;

/** `onFailed`: the server has closed its connection before it answered. Does nothing if the client has gone away while the request waited. */
export function forwardRequest(req: IncomingMessage, res: ServerResponse, open: OpenConnection, onFailed: (error: Error) => void): void {
  if (req.destroyed) return;
  const connection = open(req.socket.remoteAddress);
  connection.freeRead();
  const outgoing = request({ createConnection: () => connection, method: req.method ?? 'GET', path: req.url ?? '/', setHost: false });
  const headers = headersOf(req, OF_CONNECTION);
  for (let i = 0; i < headers.length; i += 2) outgoing.appendHeader(headers[i]!, headers[i + 1]!);
  outgoing.setHeader('connection', 'keep-alive');
  outgoing.on('response', (answer) => {
    // The server does not read the rest of the request.
    if (answer.headers.connection === 'close') res.shouldKeepAlive = false;
    res.writeHead(answer.statusCode ?? 500, answer.statusMessage ?? '', headersOf(answer, OF_RESPONSE_CONNECTION));
    passOn(answer, res);
    answer.on('end', () => {
      if (req.complete) return void connection.end();
      // The rest of a body that the server did not want: the client's next request comes after it.
      req.unpipe(outgoing);
      req.resume();
      connection.destroy();
    });
    // Cut off in the middle: the client must not take it for complete.
    answer.on('error', () => res.destroy());
  });
  outgoing.on('error', (error) => {
    if (res.headersSent || res.destroyed) return;
    onFailed(error);
    req.unpipe(outgoing);
    req.resume();
  });
  res.on('close', () => {
    if (!res.writableFinished) outgoing.destroy();
  });
  req.pipe(outgoing);
  // A small body has come by then, and goes with the headers. The server may answer without waiting for a slow one.
  setImmediate(() => outgoing.headersSent || outgoing.flushHeaders());
}

/** Like `pipe`, but frees each chunk once it is sent. Otherwise large answers keep the garbage collector busy. */
function passOn(answer: IncomingMessage, res: ServerResponse): void {
  answer.on('data', (chunk: Buffer) => {
    if (!res.write(chunk, () => freeBytes(chunk))) answer.pause();
  });
  res.on('drain', () => answer.resume());
  answer.on('end', () => res.end());
}

/** Passes every upgrade on, once `ready` has resolved. `close` ends that; connections that are open stay. */
export function forwardUpgrades(server: Server, open: OpenConnection, ready: Promise<void>): { close(): void } {
  const onUpgrade = async (req: IncomingMessage, socket: Duplex & { remoteAddress?: string }, head: Buffer) => {
    // Node removes its error listener from an upgraded socket. Without one, a connection reset would end the process.
    socket.on('error', () => socket.destroy());
    await ready;
    if (socket.destroyed) return;
    const connection = open(socket.remoteAddress);
    const lines = headersOf(req, new Set()).map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    connection.write(`${req.method} ${req.url} HTTP/${req.httpVersion}\r\n${lines.join('')}\r\n`, 'latin1');
    connection.write(head);
    connection.on('error', () => connection.destroy());
    socket.on('close', () => connection.destroy());
    connection.on('close', () => socket.destroy());
    socket.pipe(connection).pipe(socket);
  };
  server.on('upgrade', onUpgrade);
  return { close: () => server.off('upgrade', onUpgrade) };
}

/** Names and values in turns, as received: repeated ones stay apart. */
function headersOf({ rawHeaders }: IncomingMessage, without: ReadonlySet<string>): string[] {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (!without.has(name.toLowerCase())) headers.push(name, rawHeaders[i + 1]!);
  }
  return headers;
}
