import { asNumber } from '../filter/compare.ts';

/** The text of a single value. Objects have none: String() would run code that travelled in the event, or throw. */
export { textOf } from '../filter/compare.ts';
export { asNumber };

const SHA256_HEX = /^[0-9a-f]{64}$/i;

/** A value that a client hashed already. It passes every normaliser and `sha256` unchanged. */
export function isHashed(value: unknown): value is string {
  return typeof value === 'string' && value.length === 64 && SHA256_HEX.test(value);
}

/** Without a zone the server's own would leak in. */
const ISO_WITH_ZONE = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;

export function isoMillis(value: unknown): number | undefined {
  const ms = typeof value === 'string' && value.length <= 40 && ISO_WITH_ZONE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Binary fractions give 1998.9999999999998 for 19.99 × 100; fifteen digits are what a double holds for certain. */
export function tidy(number: number): number | undefined {
  return Number.isFinite(number) ? Number(number.toPrecision(15)) : undefined;
}

export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function parseUrl(value: unknown): URL | undefined {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
}
