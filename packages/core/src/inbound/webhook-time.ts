import type { WebhookSource } from '../config/resources.ts';
import { LATEST_TIME, parseTimestamp } from '../event/timestamp.ts';

/** Returns milliseconds since 1970, or undefined if the value does not match the format. Without a format, the value's shape decides. */
export function webhookTime(value: unknown, format: WebhookSource['timestamp_format']): number | undefined {
  const number =
    typeof value === 'number' ? value : typeof value === 'string' && /^-?\d{1,16}(\.\d+)?$/.test(value) ? Number(value) : undefined;
  if (format === 'iso8601' || number === undefined)
    return typeof value === 'string' && (format === 'iso8601' || format === null) ? parseTimestamp(value.trim()) : undefined;
  // Seconds reach 12 digits only in the year 5138, so larger numbers are milliseconds.
  const millis = format === 'unix_millis' || (format === null && Math.abs(number) >= 1e11);
  const ms = Math.round(millis ? number : number * 1_000);
  return ms >= 0 && ms <= LATEST_TIME ? ms : undefined;
}
