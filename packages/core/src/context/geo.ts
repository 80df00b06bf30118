/** Location of an IP address, as far as the database knows. Absent values are omitted. */
export interface Geo {
  continent?: string;
  /** ISO 3166-1, two letters. */
  country?: string;
  country_name?: string;
  /** ISO 3166-2 without the country. */
  region?: string;
  region_name?: string;
  city?: string;
  postal_code?: string;
  latitude?: number;
  longitude?: number;
  timezone?: string;
}
/** Injected, because `core` has no database. Never throws. */
export type GeoLookup = (ip: string) => Geo | undefined;
