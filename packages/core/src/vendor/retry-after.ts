/** Longest wait a vendor can ask for. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** `Retry-After`: whole seconds, or an HTTP date. Other values and times in the past are ignored. */
export function retryAfterMs(value: unknown, now: number): number | undefined {
  if (typeof value === 'number') return bounded(value * 1000);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return bounded(Number(text) * 1000);
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : bounded(at - now);
}

function bounded(ms: number): number | undefined {
  return Number.isFinite(ms) && ms > 0 ? Math.min(Math.ceil(ms), MAX_RETRY_AFTER_MS) : undefined;
}
