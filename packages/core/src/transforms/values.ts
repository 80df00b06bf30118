import { asNumber } from '../filter/compare.ts';

/** The text of a single value. Objects have none, because String() would run code from the event or throw. */
export { textOf } from '../filter/compare.ts';
export { asNumber };

const SHA256_HEX = /^[0-9a-f]{64}$/i;

/** A value that the client has already hashed. All normalisers and `sha256` leave it unchanged. */
export function isHashed(value: unknown): value is string {
  return typeof value === 'string' && value.length === 64 && SHA256_HEX.test(value);
}

/** The zone is required: without it, parsing would use the server's zone. */
const ISO_WITH_ZONE = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;

export function isoMillis(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length > 40 || !ISO_WITH_ZONE.test(value) || !isDay(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

/** JavaScript accepts 31 February as a day in March. */
function isDay(date: string): boolean {
  const day = Number(date.slice(8, 10));
  return day <= 28 || day <= new Date(Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)), 0)).getUTCDate();
}

/**
 * Binary fractions give 1998.9999999999998 for 19.99 × 100. Rounds to fifteen digits, which a double always holds. A number with more digits
 * before the point, such as a time in microseconds, would lose its last ones: it stays as it is.
 */
export function tidy(number: number): number | undefined {
  if (!Number.isFinite(number)) return undefined;
  return Math.abs(number) < 1e15 ? Number(number.toPrecision(15)) : number;
}

export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function parseUrl(value: unknown): URL | undefined {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
}
