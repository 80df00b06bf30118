/** First-party cookies: reads those of the request, writes `_df_id` and vendor ids. */
import { isVendorCookie } from '@firsthand/core/context/vendor-ids.ts';
import { getDomain, parse } from 'tldts';

const REMEMBERED = 1_000;
export const ID_COOKIE = '_df_id';
const MAX_AGE_S = 400 * 86_400;
const MAX_VALUE = 1_024;

const ID_START = `${ID_COOKIE}=`;

/** The visitor's id, decoded; undefined where the cookie is absent, empty or not decodable. */
export function readIdCookie(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  for (let from = 0; ; ) {
    const at = header.indexOf(ID_START, from);
    if (at === -1) return undefined;
    from = at + ID_START.length;
    if (at !== 0 && header[at - 1] !== ' ' && header[at - 1] !== ';') continue;
    const end = header.indexOf(';', from);
    return decode(header.slice(from, end === -1 ? undefined : end).trim());
  }
}

/** Names and values of all cookies, undecoded. */
export function eachCookie(header: string | undefined, visit: (name: string, value: string) => void): void {
  for (const part of header?.split(';') ?? []) {
    const at = part.indexOf('=');
    if (at > 0) visit(part.slice(0, at).trim(), part.slice(at + 1).trim());
  }
}

const MAX_VENDOR_COOKIES = 30;
const MAX_VENDOR_VALUE = 512;

/** The cookies of vendors that events are matched with (`_ga`, `_fbc`, `_gcl_aw` …). Processing uses them as consent allows. */
export function vendorCookies(header: string | undefined): Record<string, string> | undefined {
  if (header === undefined) return undefined;
  let found: Record<string, string> | undefined;
  let count = 0;
  eachCookie(header, (name, raw) => {
    if (count >= MAX_VENDOR_COOKIES || !isVendorCookie(name)) return;
    const value = decode(raw) ?? '';
    if (value === '' || value.length > MAX_VENDOR_VALUE) return;
    found ??= {};
    found[name] = value;
    count++;
  });
  return found;
}

export function decode(text: string): string | undefined {
  const bare = text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text;
  if (bare === '' || bare.length > MAX_VALUE * 3) return undefined;
  try {
    const value = decodeURIComponent(bare);
    return value.length <= MAX_VALUE ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined where the value does not fit a cookie. Percent-encoding leaves nothing that could end the header. */
export function setCookie(name: string, value: string, scope: CookieScope, maxAgeS: number = MAX_AGE_S): string | undefined {
  if (!value.isWellFormed()) return undefined;
  const encoded = encodeURIComponent(value);
  if (encoded.length > MAX_VALUE * 3) return undefined;
  const domain = scope.domain === undefined ? '' : `; Domain=${scope.domain}`;
  return `${name}=${encoded}; Path=/; Max-Age=${maxAgeS}; SameSite=Lax${domain}${scope.secure ? '; Secure' : ''}`;
}

export interface CookieScope {
  /** The registrable domain that host and origin share; undefined: this host only. */
  domain: string | undefined;
  secure: boolean;
}

const known = new Map<string, string | undefined>();

/** Private suffixes count: nobody may set a cookie for all of `github.io`. */
export function sharedDomain(host: string, origin: string | undefined): string | undefined {
  const key = `${host}\n${origin ?? ''}`;
  if (known.has(key)) return known.get(key);
  const options = { allowPrivateDomains: true };
  const { domain, isIp, hostname } = parse(host, options);
  const usable = domain !== null && isIp !== true && hostname !== null ? domain : undefined;
  const shared = usable !== undefined && origin !== undefined && getDomain(origin, options) === usable ? usable : undefined;
  if (known.size >= REMEMBERED) known.clear();
  known.set(key, shared);
  return shared;
}
