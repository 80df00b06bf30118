/** The time range that the address bar holds as `range`: one of these, or on a list a fixed time, see `fixedRange`. */
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

/** `2026-05-01T12:00:00.000Z/2026-05-01T12:15:00.000Z` */
export const fixedRange = (from: number, to: number): string => `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
/** One entry of a series. The first one may begin before the statistics, which then count a part of it. */
export const entryRange = (start: number, stepMs: number, from: string | undefined): string =>
  fixedRange(from === undefined ? start : Math.max(start, Date.parse(from)), start + stepMs - 1);
function readFixed(range: string): { from: string; to: string } | undefined {
  const [from, to, ...more] = range.split('/').map((text) => Date.parse(text));
  if (from === undefined || to === undefined || more.length > 0 || Number.isNaN(from) || Number.isNaN(to)) return undefined;
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}
/** Of a list, as the API takes it. Undefined where the text is no range. */
export function limitsOf(range: string): { from: string; to?: string } | undefined {
  return Object.hasOwn(RANGES, range) ? { from: bounds(range as RangeKey).from } : readFixed(range);
}
const moments = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
/** `17 May, 12:00 – 12:15` of a fixed range. */
export function fixedLabel(range: string): string | undefined {
  const fixed = readFixed(range);
  return fixed && moments.formatRange(new Date(fixed.from), new Date(fixed.to));
}
