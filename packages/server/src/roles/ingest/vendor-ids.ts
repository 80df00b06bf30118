/** First-party ids that vendors expect: read from the request's cookies, or minted where absent. Only with consent. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { SyncRule } from '@firsthand/core/context/vendor-syncs.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { type CookieScope, decode, eachCookie, setCookie } from './cookies.ts';

const MAX_LENGTH = 512;

interface VendorCookie {
  cookie: string;
  /** Its name in `context.vendor_ids`. */
  id: string;
  maxAgeDays: number;
  /** The cookie's value for a visitor without one; undefined if it represents a click that did not happen. */
  mint(now: number, click: (param: string) => string | undefined): string | undefined;
  /** The part of the cookie that the vendor's API wants. */
  read?(value: string): string | undefined;
}
type Click = (param: string) => string | undefined;

const fromClick = (param: string) => (_now: number, click: Click) => click(param);
const facebookClick = (now: number, click: Click) => {
  const fbclid = click('fbclid');
  return fbclid === undefined ? undefined : `fb.1.${now}.${fbclid}`;
};
const googleClick = (now: number, click: Click) => {
  const gclid = click('gclid');
  return gclid === undefined ? undefined : `GCL.${Math.floor(now / 1_000)}.${gclid}`;
};

/** By vendor, as in `SYNC_IDS`. */
const COOKIES: ReadonlyMap<string, readonly VendorCookie[]> = new Map(
  Object.entries<readonly VendorCookie[]>({
    meta: [
      { cookie: '_fbp', id: 'fbp', maxAgeDays: 90, mint: (now) => `fb.1.${now}.${randomInt(1e9, 2 ** 31)}` },
      { cookie: '_fbc', id: 'fbc', maxAgeDays: 90, mint: facebookClick },
    ],
    google_analytics: [
      {
        cookie: '_ga',
        id: 'ga_client_id',
        maxAgeDays: 400,
        mint: (now) => `GA1.1.${randomInt(1, 2 ** 31)}.${Math.floor(now / 1_000)}`,
        read: (value) => /^GA\d+\.\d+(?:-\d+)?\.(\d+\.\d+)$/.exec(value)?.[1],
      },
    ],
    google_ads: [{ cookie: '_gcl_aw', id: 'gcl_aw', maxAgeDays: 90, mint: googleClick }],
    tiktok: [{ cookie: '_ttp', id: 'ttp', maxAgeDays: 390, mint: () => base62(27) }],
    snapchat: [{ cookie: '_scid', id: 'scid', maxAgeDays: 390, mint: () => randomUUID() }],
    pinterest: [{ cookie: '_epik', id: 'epik', maxAgeDays: 365, mint: fromClick('epik') }],
    linkedin: [{ cookie: 'li_fat_id', id: 'li_fat_id', maxAgeDays: 30, mint: fromClick('li_fat_id') }],
    reddit: [
      { cookie: '_rdt_uuid', id: 'rdt_uuid', maxAgeDays: 90, mint: (now) => `${now}.${randomUUID()}` },
      { cookie: '_rdt_cid', id: 'rdt_cid', maxAgeDays: 90, mint: fromClick('rdt_cid') },
    ],
    x: [{ cookie: '_twclid', id: 'twclid', maxAgeDays: 30, mint: fromClick('twclid') }],
    microsoft: [
      { cookie: '_uetvid', id: 'uetvid', maxAgeDays: 390, mint: () => randomBytes(16).toString('hex') },
      { cookie: '_uetmsclkid', id: 'uetmsclkid', maxAgeDays: 90, mint: fromClick('msclkid') },
    ],
    // Metrica's own script makes it; an id of ours would match no visit.
    yandex_metrica: [{ cookie: '_ym_uid', id: 'ym_uid', maxAgeDays: 365, mint: () => undefined }],
  }),
);
/** One request's cookies. Ids that are minted for its first event are there for the next, and are set once. */
export class CookieJar {
  readonly minted: string[] = [];
  readonly #values = new Map<string, string>();
  readonly #scope: CookieScope;
  constructor(header: string | undefined, scope: CookieScope) {
    this.#scope = scope;
    eachCookie(header, (name, value) => this.#values.set(name, decode(value) ?? value));
  }
  get(name: string): string | undefined {
    return this.#values.get(name);
  }
  mint(name: string, value: string, maxAgeS: number): void {
    const cookie = setCookie(name, value, this.#scope, maxAgeS);
    if (cookie === undefined) return;
    this.#values.set(name, value);
    this.minted.push(cookie);
  }
}

/** The ids for one event's `context.vendor_ids`; what the client sent itself is not repeated. */
export function vendorIds(
  syncs: readonly SyncRule[],
  { granted, mayMint }: Record<'granted' | 'mayMint', (category: string) => boolean>,
  jar: CookieJar,
  body: JsonObject,
  now: number,
): Record<string, string> | undefined {
  const allowed = syncs.filter(({ category }) => category === undefined || granted(category));
  if (allowed.length === 0) return undefined;
  const context = own(body, 'context');
  const sent = isObject(context) ? own(context, 'vendor_ids') : undefined;
  const said = (name: string) => isObject(sent) && own(sent, name) !== undefined;
  const click = clickReader(body);
  const ids: Record<string, string> = {};
  for (const { vendor, mintCategory } of allowed) {
    const isMinted = mayMint(mintCategory);
    for (const { cookie, id, maxAgeDays, mint, read } of COOKIES.get(vendor) ?? []) {
      if (isMinted && jar.get(cookie) === undefined && !said(id) && !said(cookie)) {
        const minted = mint(now, click);
        if (minted !== undefined) jar.mint(cookie, minted, maxAgeDays * 86_400);
      }
      const value = jar.get(cookie);
      const wire = value === undefined || value.length > MAX_LENGTH ? undefined : read ? read(value) : value;
      if (wire !== undefined) ids[id] = wire;
    }
  }
  return Object.keys(ids).length === 0 ? undefined : ids;
}

/** Click ids stand in the page's address. */
function clickReader(body: JsonObject): Click {
  let params: URLSearchParams | undefined;
  return (param) => {
    params ??= paramsOf(pageUrl(body));
    const value = params.get(param);
    return value !== null && /^[\x21-\x7e]{1,400}$/.test(value) ? value : undefined;
  };
}
function pageUrl(body: JsonObject): string {
  const context = own(body, 'context');
  const page = isObject(context) ? own(context, 'page') : undefined;
  const properties = own(body, 'properties');
  const url = (isObject(page) ? own(page, 'url') : undefined) ?? (isObject(properties) ? own(properties, 'url') : undefined);
  return typeof url === 'string' ? url : '';
}
function paramsOf(url: string): URLSearchParams {
  return URL.canParse(url) ? new URL(url).searchParams : new URLSearchParams();
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
function base62(length: number): string {
  let out = '';
  while (out.length < length) out += BASE62[randomInt(62)];
  return out;
}
