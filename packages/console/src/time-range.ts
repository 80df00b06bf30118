/** The time range that the address bar holds as `range`. */
export const RANGES = {
  '1h': { label: 'Last hour', ms: 3_600_000, interval: 'minute' },
  '24h': { label: 'Last 24 hours', ms: 86_400_000, interval: 'hour' },
  '7d': { label: 'Last 7 days', ms: 7 * 86_400_000, interval: 'hour' },
} as const;
export type RangeKey = keyof typeof RANGES;
export const DEFAULT_RANGE: RangeKey = '24h';

export function readRange(text: string | undefined): RangeKey {
  return text !== undefined && Object.hasOwn(RANGES, text) ? (text as RangeKey) : DEFAULT_RANGE;
}
/** From and to, rounded to the minute so that a query's key stays the same for a minute. */
export function bounds(range: RangeKey, now: number = Date.now()): { from: string; to: string } {
  const to = Math.ceil(now / 60_000) * 60_000;
  return { from: new Date(to - RANGES[range].ms).toISOString(), to: new Date(to).toISOString() };
}
