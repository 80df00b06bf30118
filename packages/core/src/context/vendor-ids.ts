/** First-party ids that vendors match on, each under one name in `context.vendor_ids`. Clients send these names or the original cookies. */
import { isObject, type JsonObject, own } from '../json.ts';
import { ownObject, setOwn } from './objects.ts';

const MAX_LENGTH = 512;
/** Of a client's object. Browsers keep fewer cookies for a site. */
const MAX_COOKIES = 500;
export const COOKIES: ReadonlyMap<string, string> = new Map([
  ['_fbp', 'fbp'],
  ['_fbc', 'fbc'],
  ['_ttp', 'ttp'],
  ['_scid', 'scid'],
  ['_sctr', 'sctr'],
  ['_epik', 'epik'],
  ['_rdt_uuid', 'rdt_uuid'],
  ['_rdt_cid', 'rdt_cid'],
  ['_twclid', 'twclid'],
  ['_uetmsclkid', 'uetmsclkid'],
  ['_uetvid', 'uetvid'],
  ['_gcl_aw', 'gcl_aw'],
  ['_gcl_dc', 'gcl_dc'],
  ['_gcl_gb', 'gcl_gb'],
  ['_gcl_ag', 'gcl_ag'],
  ['ttclid', 'ttclid'],
  ['quora_qclid', 'qclid'],
  ['hubspotutk', 'hubspotutk'],
  ['_vwo_uuid', 'vwo_uuid'],
  ['_ALGOLIA', 'algolia_user_token'],
  ['li_fat_id', 'li_fat_id'],
  ['__oppref', 'oppref'],
  ['__obref', 'obref'],
  ['crto_mapped_user_id', 'crto_mapped_user_id'],
  ['_axwrt', 'axwrt'],
  ['_axeid', 'axeid'],
  ['_axart', 'axart'],
  ['__adroll_fpc', 'adroll_fpc'],
  ['sa-userid', 'stackadapt_user_id'],
  ['awc', 'awc'],
  ['cje', 'cje'],
]);

/** Whether a vendor uses the cookie to match events. */
export function isVendorCookie(name: string): boolean {
  return COOKIES.has(name) || name === '_ga' || name.startsWith('_ga_');
}

/** Jitsu's browser SDK reads the cookies itself and sends `context.clientIds`: these are the cookies that it read. */
export function cookiesOfJitsu(context: JsonObject): Record<string, string> | undefined {
  const clientIds = ownObject(context, 'clientIds');
  if (clientIds === undefined) return undefined;
  const cookies: Record<string, string> = {};
  const add = (name: string, value: unknown, before = '') => {
    if (typeof value === 'string' && value !== '') cookies[name] = before + value;
  };
  for (const key of Object.keys(clientIds).slice(0, MAX_COOKIES)) {
    const name = isVendorCookie(key) ? key : `_${key}`;
    if (isVendorCookie(name)) add(name, clientIds[key]);
  }
  const analytics = ownObject(clientIds, 'ga4');
  add('_ga', analytics?.clientId, 'GA1.1.');
  const sessions = ownObject(analytics, 'sessionIds') ?? {};
  for (const stream of Object.keys(sessions).slice(0, MAX_COOKIES)) add(`_ga_${stream}`, sessions[stream], 'GS1.1.');
  return cookies;
}

/** Converts the vendor cookies of a request to ids. */
export function idsOfCookies(cookies: Readonly<Record<string, string>>): JsonObject {
  const ids: JsonObject = {};
  for (const [name, value] of Object.entries(cookies)) {
    if (!fromCookie(name, value, ids) && COOKIES.get(name) === name && value.length <= MAX_LENGTH) ids[name] = value;
  }
  return ids;
}

/** Returns whether `context.vendor_ids` changed. */
export function applyVendorIds(context: JsonObject): boolean {
  const sent = own(context, 'vendor_ids');
  const cookies = own(context, 'cookies');
  if (!isObject(sent) && !isObject(cookies)) return false;
  const ids: JsonObject = {};
  let changed = false;
  if (isObject(sent)) {
    for (const [index, key] of Object.keys(sent).entries()) {
      const value = sent[key];
      const renamed = index < MAX_COOKIES && fromCookie(key, value, ids);
      if (renamed) changed = true;
      else if (key !== '__proto__') ids[key] = value as JsonObject[string];
    }
  }
  if (isObject(cookies))
    for (const key of Object.keys(cookies).slice(0, MAX_COOKIES)) if (fromCookie(key, cookies[key], ids)) changed = true;
  if (changed) context.vendor_ids = ids;
  return changed;
}

/** Adds a cookie under its id, or the part of it that the vendor's API expects. Existing ids are kept. */
function fromCookie(name: string, value: unknown, ids: JsonObject): boolean {
  if (typeof value !== 'string' || value === '' || value.length > MAX_LENGTH) return false;
  const plain = COOKIES.get(name);
  if (plain !== undefined) return plain !== name && put(ids, plain, value);
  if (name === '_ga') {
    const match = /^GA\d+\.\d+(?:-\d+)?\.(\d+\.\d+)$/.exec(value);
    return match?.[1] !== undefined && put(ids, 'ga_client_id', match[1]);
  }
  if (name.startsWith('_ga_')) {
    const session = /^GS\d+\.\d+\.s?(\d+)/.exec(value)?.[1];
    if (session === undefined) return false;
    // A site may have several streams. Each integration uses the session of its own stream.
    const sessions = isObject(ids.ga_sessions) ? (ids.ga_sessions as JsonObject) : (ids.ga_sessions = {});
    // Written in place: a client may name thousands of streams, and a copy for each took seconds.
    setOwn(sessions, name.slice('_ga_'.length), session);
    put(ids, 'ga_session_id', session);
    return true;
  }
  return false;
}

function put(ids: JsonObject, key: string, value: string): boolean {
  if (Object.hasOwn(ids, key)) return false;
  ids[key] = value;
  return true;
}
