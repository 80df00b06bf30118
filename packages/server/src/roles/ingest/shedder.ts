/**
 * Refusals under overload are held back for a moment: a client that ignores Retry-After and sends again at once would
 * otherwise spend, on being refused, the very time that accepted requests need.
 */
import type { Refusal } from './answers.ts';

const HOLD_MS = 200;
const MAX_HELD = 4_000;
export const OVERLOADED: Refusal = { code: 'overloaded', retryAfterS: 1 };

interface Refusable {
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
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const refused = held;
    held = [];
    for (const exchange of refused) exchange.refuse(OVERLOADED);
  }
  return {
    flush,
    shed(exchange) {
      if (held.length >= MAX_HELD) {
        exchange.refuse(OVERLOADED);
        return;
      }
      held.push(exchange);
      timer ??= setTimeout(flush, HOLD_MS);
    },
  };
}
