/** A wait is counted in parts of about this length. */
const PART_MS = 100;

/**
 * A timer that ends the wait for an answer. Timers run before sockets are read, so after this process was stopped or busy an answer that has
 * come would count as late. A part of the wait counts once, however long it took, so that an exchange of several messages goes on after a stop.
 * `act` is called one pass of the event loop after the last part, and must do nothing if the answer is there by then.
 */
export function whenLate(ms: number, act: () => void): NodeJS.Timeout {
  const parts = Math.ceil(ms / PART_MS);
  let passed = 0;
  const timer = setInterval(() => {
    if (++passed < parts) return;
    clearInterval(timer);
    setImmediate(act);
  }, ms / parts);
  return timer;
}
