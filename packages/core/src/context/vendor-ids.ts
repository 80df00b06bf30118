/**
 * First-party ids that vendors match on, under one name each: `context.vendor_ids`. The collector sends the names below or
 * the cookies they come from; both are understood.
 */
import { isObject, type JsonObject, own } from '../json.ts';

const COOKIES: ReadonlyMap<string, string> = new Map([
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
  ['hubspotutk', 'hubspotutk'],
  ['_vwo_uuid', 'vwo_uuid'],
  ['_ALGOLIA', 'algolia_user_token'],
  ['li_fat_id', 'li_fat_id'],
]);

/** Returns whether `context.vendor_ids` changed. */
export function applyVendorIds(context: JsonObject): boolean {
  const sent = own(context, 'vendor_ids');
  const cookies = own(context, 'cookies');
  if (!isObject(sent) && !isObject(cookies)) return false;
  const ids: JsonObject = {};
  let changed = false;
  if (isObject(sent)) {
    for (const key of Object.keys(sent)) {
      const value = sent[key];
      const renamed = fromCookie(key, value, ids);
      if (renamed) changed = true;
      else if (key !== '__proto__') ids[key] = value as JsonObject[string];
    }
  }
  if (isObject(cookies)) for (const key of Object.keys(cookies)) if (fromCookie(key, cookies[key], ids)) changed = true;
  if (changed) context.vendor_ids = ids;
  return changed;
}

/** A cookie under its own name: unpacked where the vendor wants only part of it. What is there already stays. */
function fromCookie(name: string, value: unknown, ids: JsonObject): boolean {
  if (typeof value !== 'string' || value === '' || value.length > 512) return false;
  const plain = COOKIES.get(name);
  if (plain !== undefined) return plain !== name && put(ids, plain, value);
  if (name === '_ga') {
    const match = /^GA\d+\.\d+(?:-\d+)?\.(\d+\.\d+)$/.exec(value);
    return match !== null && put(ids, 'ga_client_id', match[1]!);
  }
  if (name.startsWith('_ga_')) {
    const match = /^GS\d+\.\d+\.s?(\d+)/.exec(value);
    return match !== null && put(ids, 'ga_session_id', match[1]!);
  }
  return false;
}

function put(ids: JsonObject, key: string, value: string): boolean {
  if (Object.hasOwn(ids, key)) return false;
  ids[key] = value;
  return true;
}
