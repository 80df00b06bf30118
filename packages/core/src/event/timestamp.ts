/**
 * `YYYY-MM-DD`, optionally with time, fraction and zone, or the same without separators (`20260115T103000Z`). A time without a zone is UTC, so
 * the server's zone has no effect.
 */
const ISO = /^(\d{4})(-?)(\d\d)\2(\d\d)(?:[Tt ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|z|[+-]\d\d(?::?\d\d)?)?)?$/;
/** The last millisecond that ISO 8601 writes with four digits of year. */
export const LATEST_TIME = 253_402_300_799_999;
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns milliseconds since 1970, or undefined if the text is not an ISO 8601 instant between 1970 and 9999. */
export function parseTimestamp(text: string): number | undefined {
  // Fast path: nearly all timestamps have the form of `toISOString`, which the engine parses quickly. Days from the 29th take the strict
  // path, because the engine accepts 30 February as 2 March.
  if (text.length === 24 && text.charCodeAt(23) === 90 && text.charCodeAt(10) === 84 && beforeThe29th(text)) {
    const quick = Date.parse(text);
    if (quick >= 0) return quick;
  }
  if (text.length > 40) return undefined;
  const match = ISO.exec(text);
  if (!match) return undefined;
  const [, year, , month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = match;
  const days = Number(month) === 2 && !leap(Number(year)) ? 28 : (DAYS[Number(month) - 1] ?? 0);
  if (Number(day) < 1 || Number(day) > days) return undefined;
  // A leap second and an end of day written as 24:00 are valid. Both become the following second.
  const endOfDay = hour === '24' && Number(minute) === 0 && Number(second) === 0 && Number(fraction) === 0;
  if ((Number(hour) > 23 && !endOfDay) || Number(minute) > 59 || Number(second) > 60) return undefined;
  const offset = zoneMinutes(zone);
  if (offset === undefined) return undefined;
  const millis = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const utc = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second), millis);
  const instant = utc - offset * 60_000;
  return instant >= 0 && instant <= LATEST_TIME ? instant : undefined;
}

function beforeThe29th(text: string): boolean {
  const tens = text.charCodeAt(8);
  return tens < 50 || (tens === 50 && text.charCodeAt(9) < 57);
}
function zoneMinutes(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', ''));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
function leap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}
