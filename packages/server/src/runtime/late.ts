/**
 * A timer that ends the wait for an answer. Timers run before sockets are read, so after this process was stopped or busy an answer that has
 * come would count as late. `act` is called one pass of the event loop later, and must do nothing if the answer is there by then.
 */
export function whenLate(ms: number, act: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(act), ms);
}
