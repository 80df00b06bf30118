/** Looks up addresses in the file that GEOIP_DB names. Read at start, so that a bad file is a settings error. */
import type { Geo, GeoLookup } from '@firsthand/core/context/geo.ts';
import { Lru } from '@firsthand/core/context/lru.ts';
import { type CityResponse, open, type Reader, validate } from 'maxmind';

export type GeoResult = { ok: true; lookup: GeoLookup } | { ok: false; fault: string };
const CACHED = 10_000;

export async function openGeo(path: string): Promise<GeoResult> {
  try {
    const reader = await open<CityResponse>(path, { cache: { max: 1_000 } });
    return { ok: true, lookup: cachedLookup(reader) };
  } catch (error) {
    return { ok: false, fault: `GEOIP_DB: ${JSON.stringify(path)} is no readable .mmdb file: ${(error as Error).message}` };
  }
}

function cachedLookup(reader: Pick<Reader<CityResponse>, 'get' | 'metadata'>): GeoLookup {
  // Null: looked for and not there.
  const cache = new Lru<string, Geo | null>(CACHED);
  return (ip) => {
    const known = cache.get(ip);
    if (known !== undefined) return known ?? undefined;
    const geo = lookUp(reader, ip);
    cache.set(ip, geo ?? null);
    return geo;
  };
}

function lookUp(reader: Pick<Reader<CityResponse>, 'get' | 'metadata'>, ip: string): Geo | undefined {
  const address = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  // A database of IPv4 alone would read the first bits of the other kind as its own.
  if (!validate(address) || (address.includes(':') && reader.metadata.ipVersion === 4)) return undefined;
  let found: CityResponse | null;
  try {
    found = reader.get(address);
  } catch {
    return undefined; // a damaged tree in the file: this address is simply not known
  }
  if (found === null) return undefined;
  const country = found.country ?? found.registered_country;
  const region = found.subdivisions?.[0];
  const geo = withoutAbsent({
    continent: found.continent?.code,
    country: country?.iso_code,
    country_name: country?.names?.en,
    region: region?.iso_code,
    region_name: region?.names?.en,
    city: found.city?.names?.en,
    postal_code: found.postal?.code,
    latitude: found.location?.latitude,
    longitude: found.location?.longitude,
    timezone: found.location?.time_zone,
  });
  return Object.keys(geo).length > 0 ? geo : undefined;
}

function withoutAbsent(values: Partial<Record<keyof Geo, string | number | undefined>>): Geo {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Geo;
}
