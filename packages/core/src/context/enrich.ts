/** Step 1: adds what the request, the user agent, the IP address and the page URL reveal. Values sent by the client take precedence. */
import type { CanonicalEvent } from '../event/canonical.ts';
import { idText } from '../event/canonicalise.ts';
import type { IngestEnvelope } from '../event/envelope.ts';
import { MAX_NAME_LENGTH } from '../event/validate.ts';
import { isObject, type JsonObject, own } from '../json.ts';
import type { Decision } from '../outcome/outcome.ts';
import { attributionOf } from './campaign.ts';
import type { GeoLookup } from './geo.ts';
import { addMissing, ownObject, ownText } from './objects.ts';
import { parseUserAgent } from './user-agent.ts';
import { applyVendorIds } from './vendor-ids.ts';

export type RequestFacts = Pick<IngestEnvelope, 'source' | 'ip' | 'user_agent' | 'gpc' | 'cookies'>;

export function applyContext(event: CanonicalEvent, request: RequestFacts, geo: GeoLookup | undefined, decisions: Decision[]): void {
  const context = event.context;
  const changed: string[] = [];
  if (request.source === 'browser') {
    if (request.ip !== undefined && ownText(context, 'ip') === undefined) {
      context.ip = request.ip;
      changed.push('context.ip');
    }
    if (request.user_agent !== undefined && ownText(context, 'user_agent') === undefined) {
      context.user_agent = request.user_agent;
      changed.push('context.user_agent');
    }
  }
  const userAgent = ownText(context, 'user_agent');
  if (userAgent !== undefined) {
    const parsed = parseUserAgent(userAgent);
    if (parsed.device !== undefined && addMissing(context, 'device', parsed.device)) changed.push('context.device');
    if (parsed.os !== undefined && addMissing(context, 'os', parsed.os)) changed.push('context.os');
    if (parsed.browser !== undefined && addMissing(context, 'browser', parsed.browser)) changed.push('context.browser');
  }
  const ip = ownText(context, 'ip');
  if (geo !== undefined && ip !== undefined) {
    const found = geo(ip);
    if (found !== undefined && addMissing(context, 'geo', found as JsonObject)) changed.push('context.geo');
  }
  const url = pageUrl(event);
  if (url !== undefined) {
    const { campaign, click_ids } = attributionOf(url);
    if (campaign !== undefined && addMissing(context, 'campaign', campaign)) changed.push('context.campaign');
    if (click_ids !== undefined && addMissing(context, 'click_ids', click_ids)) changed.push('context.click_ids');
  }
  if (applyVendorIds(context)) changed.push('context.vendor_ids');
  if (request.gpc === true || saysGpc(own(context, 'gpc'))) {
    if (own(context, 'gpc') !== true) changed.push('context.gpc');
    context.gpc = true;
  }
  if (changed.length > 0) decisions.push({ step: 'context', result: 'enriched', changed });
}

/**
 * Facts that a client may send under other names, where vendors and mappings do not look. Call it after the privacy rules: a rule on
 * `properties.url` then holds for the copy too.
 */
export function applyAliases(event: CanonicalEvent, decisions: Decision[]): void {
  const changed: string[] = [];
  if (event.type === 'page' && isObject(event.properties)) applyPage(event, event.properties, changed);
  // Segment's clients name the group of other calls there.
  const group = event.type === 'group' ? undefined : idText(own(event.context, 'groupId'));
  if (group !== undefined && group.length <= MAX_NAME_LENGTH && (own(event.context, 'group_id') ?? null) === null) {
    event.context.group_id = group;
    changed.push('context.group_id');
  }
  if (changed.length > 0) decisions.push({ step: 'context', result: 'enriched', changed });
}

/** A page call may describe its page in the properties only. Jitsu's clients send its name there. */
function applyPage(event: CanonicalEvent, properties: JsonObject, changed: string[]): void {
  const name = ownText(properties, 'name');
  if (event.name === undefined && name !== undefined && name.length <= MAX_NAME_LENGTH) {
    event.name = name;
    changed.push('name');
  }
  if (event.original_type === 'screen') return;
  const found: JsonObject = {};
  for (const key of PAGE_KEYS) {
    const value = ownText(properties, key);
    if (value !== undefined && (key !== 'url' || /^https?:\/\//i.test(value))) found[key] = value;
  }
  if (Object.keys(found).length > 0 && addMissing(event.context, 'page', found)) changed.push('context.page');
}
const PAGE_KEYS = ['url', 'title', 'referrer', 'path', 'search'];

/** The page URL, wherever the client put it. May be a bare query string. */
function pageUrl(event: CanonicalEvent): string | undefined {
  const page = ownObject(event.context, 'page');
  const properties = isObject(event.properties) ? event.properties : undefined;
  return ownText(page, 'url') ?? ownText(properties, 'url') ?? ownText(page, 'search') ?? ownText(properties, 'search');
}

export function saysGpc(value: unknown): boolean {
  return value === true || value === 1 || value === '1' || value === 'true';
}
