const SPACE_BEFORE_ZONE = /([Tt ][\d:.,]+) (\d\d(?::?\d\d)?)$/;

/** An unencoded `+` in a query arrives as a space. Before the zone of a time it can only have been the sign: `2026-01-01T00:00:00 02:00`. */
export function restoreZoneSign(time: string): string {
  return time.replace(SPACE_BEFORE_ZONE, '$1+$2');
}
