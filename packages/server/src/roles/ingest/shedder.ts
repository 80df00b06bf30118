/**
 * Refusals under overload. They are held back for a moment: a client that ignores Retry-After and sends again at once would
 * otherwise spend, on being refused, the very time that accepted requests need. A connection that sends request upon
 * request without waiting for answers is not read for a while: what it holds may be any age, and reading all of it in one
 * turn would keep commits and timers waiting.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from './answers.ts';

/** Also the longest that an accepted request can wait for the refusal before it on its connection. */
const HOLD_MS = 50;
const MAX_HELD = 4_000;
/** Connections read again in each turn: a full buffer is some seventy requests, all to be refused. */
const WAKE_EACH_TURN = 16;
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
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const refused = held;
    held = [];
    for (const exchange of refused) exchange.refuse(OVERLOADED);
  }
  function rest(socket: IncomingMessage['socket']): void {
    if (resting.has(socket)) return;
    if (resting.size === 0) setImmediate(wake);
    resting.add(socket);
    socket.pause();
  }
  function wake(): void {
    let left = WAKE_EACH_TURN;
    for (const socket of resting) {
      if (left-- === 0) break;
      resting.delete(socket);
      socket.resume();
    }
    if (resting.size > 0) setImmediate(wake);
  }
  return {
    flush,
    shed(exchange) {
      // An answer has no socket yet while another one before it is outstanding.
      const behind = exchange.res.socket === null;
      if (behind) rest(exchange.req.socket);
      if (behind || held.length >= MAX_HELD) {
        exchange.refuse(OVERLOADED);
        return;
      }
      held.push(exchange);
      timer ??= setTimeout(flush, HOLD_MS);
    },
  };
}
