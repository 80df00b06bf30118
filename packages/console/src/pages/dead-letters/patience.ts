import { RefusedError } from '../../api-client.ts';

/** Where the service does not say how long to wait. */
const WAIT_S = 2;

/** Retries while the service limits requests, after its `Retry-After`. Undefined if the signal is aborted meanwhile. */
export async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== 'RATE_LIMITED') throw error;
      await pause((error.retryAfterS ?? WAIT_S) * 1_000, signal);
      if (signal.aborted) return undefined;
    }
}
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
