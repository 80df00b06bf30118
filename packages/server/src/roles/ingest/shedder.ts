/**
 * Refusals under overload. They are held back for a moment: a client that ignores Retry-After and sends again at once would
 * otherwise spend, on being refused, the very time that accepted requests need. A connection that sends request upon
 * request without waiting for answers is not read for a while: what it holds may be any age, and reading all of it in one
 * turn would keep commits and timers waiting.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from './answers.ts';
import { threadCpuMs } from './backlog.ts';

/** Also the longest that an accepted request can wait for the refusal before it on its connection. */
const HOLD_MS = 10;
const MAX_HELD = 4_000;
/** Connections that are read again in a turn: as many as give it neither little work nor much, in processor time. */
const FEWEST = 16;
const MOST = 4_096;
const TURN_MS = { little: 25, much: 75 };
export const OVERLOADED: Refusal = { code: 'overloaded', retryAfterS: 1 };

export interface Refusable {
  req: Pick<IncomingMessage, 'socket'>;
  res: Pick<ServerResponse, 'socket'>;
  refuse(refusal: Refusal): void;
}
export interface Shedder {
  shed(exchange: Refusable): void;
  /** Refuses all that are held, now. */
  flush(): void;
}

export function createShedder(): Shedder {
  let held: Refusable[] = [];
  let timer: NodeJS.Timeout | undefined;
  const resting = new Set<IncomingMessage['socket']>();
  let waking = FEWEST;
  let wokenAt = 0;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const refused = held;
    held = [];
    for (const exchange of refused) exchange.refuse(OVERLOADED);
  }
  function rest(socket: IncomingMessage['socket']): void {
    if (resting.has(socket)) return;
    if (resting.size === 0) {
      wokenAt = threadCpuMs();
      setImmediate(wake);
    }
    resting.add(socket);
    socket.on('resume', restOn);
    socket.pause();
  }
  /** Node resumes a connection whenever a request on it is answered, in the same turn. */
  function restOn(this: IncomingMessage['socket']): void {
    this.pause();
  }
  function wake(): void {
    const now = threadCpuMs();
    const turn = now - wokenAt;
    wokenAt = now;
    if (turn < TURN_MS.little) waking = Math.min(MOST, waking * 2);
    else if (turn > TURN_MS.much) waking = Math.max(FEWEST, waking >> 1);
    let left = waking;
    for (const socket of resting) {
      if (left-- === 0) break;
      resting.delete(socket);
      socket.off('resume', restOn);
      socket.resume();
    }
    if (resting.size > 0) setImmediate(wake);
  }
  return {
    flush,
    shed(exchange) {
      // An answer has no socket yet while one before it is outstanding: it may be one that is held.
      if (exchange.res.socket === null) {
        rest(exchange.req.socket);
        flush();
        exchange.refuse(OVERLOADED);
        return;
      }
      if (held.length >= MAX_HELD) {
        exchange.refuse(OVERLOADED);
        return;
      }
      held.push(exchange);
      timer ??= setTimeout(flush, HOLD_MS);
    },
  };
}
