/**
 * Remembers facts of a visitor's earlier events that vendors need: click ids, browser ids, the first campaign and the current group. An
 * order two pages after an ad click still carries the click. Ids are remembered and added only while the required consent is granted;
 * an explicit denial deletes them.
 */

import { BROWSER_IDS, CLICK_IDS, type ClickId, clickFromCookie } from '../context/click-ids.ts';
import { ownObject, ownText, setOwn } from '../context/objects.ts';
import { cookiesOfJitsu, idsOfCookies } from '../context/vendor-ids.ts';
import type { IdConsent } from '../context/vendor-syncs.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { sha256Hex } from '../hash/hash.ts';
import { isoTime } from '../iso-time.ts';
import { isObject, type JsonObject, own } from '../json.ts';
import type { Decision } from '../outcome/outcome.ts';
import { type CompiledConsent, isGranted } from '../privacy/consent.ts';
import { writeJson } from '../transforms/json-stringify.ts';
import type { Remembered, VisitorState } from './visitor.ts';

/** Consent categories that the enabled integrations of each vendor need. An empty list means none. */
export type ClickConsent = Record<string, readonly string[]>;

export interface CompiledMemory {
  clicks: ReadonlyMap<string, { kept_ms: number; needs: readonly string[] }>;
}
export interface MemoryInput {
  received_at: number;
  /** Vendor cookies of the request. */
  cookies: Readonly<Record<string, string>> | undefined;
  /** From the pipeline's `vendor_syncs`. */
  id_consent: IdConsent;
  consent: Pick<CompiledConsent, 'categories'>;
}

const DAY_MS = 86_400_000;
const MAX_CLICKS = 20;
const MAX_VALUE = 512;
const MAX_CAMPAIGN_VALUE = 200;
const MAX_GROUP = 255;
const BROWSER_KEPT_MS = 90 * DAY_MS;

export function compileMemory(days: Readonly<Record<string, number>>, consent: ClickConsent): CompiledMemory {
  const clicks = CLICK_IDS.map((id) => {
    const chosen = own(days, id.param) ?? own(days, 'default');
    const kept = typeof chosen === 'number' ? chosen : id.days;
    return [id.param, { kept_ms: kept * DAY_MS, needs: categoriesOf(id, consent) }] as const;
  });
  return { clicks: new Map(clicks) };
}

/** Advertising consent is required if no integration uses the id. */
function categoriesOf({ vendors }: ClickId, consent: ClickConsent): readonly string[] {
  const known = vendors.flatMap((vendor) => (Object.hasOwn(consent, vendor) ? [consent[vendor] ?? []] : []));
  return known.length === 0 ? ['advertising'] : [...new Set(known.flat())];
}

export function applyMemory(
  event: CanonicalEvent,
  input: MemoryInput,
  memory: CompiledMemory,
  state: VisitorState,
  decisions: Decision[],
): VisitorState {
  const { context } = event;
  const canonical = canonicalConsent(context);
  const changed: string[] = [];
  const ids = rememberBrowserIds(context, input, state.browser_ids, canonical, changed);
  const clicks = rememberClicks(context, input, memory, state.clicks, canonical, changed);
  addClickTimes(context, input.received_at, clicks, canonical, changed);
  const campaign = rememberCampaign(context, state.campaign_first, canonical, changed);
  const group = rememberGroup(event, state.group_id, changed);
  const digest = compareTraits(event, state.traits_digest, changed);
  if (changed.length > 0) decisions.push({ step: 'memory', result: 'completed', changed });
  if (
    ids === state.browser_ids &&
    clicks === state.clicks &&
    campaign === state.campaign_first &&
    group === state.group_id &&
    digest === state.traits_digest
  )
    return state;
  const { browser_ids: _i, clicks: _c, campaign_first: _f, group_id: _g, traits_digest: _d, ...rest } = state;
  return {
    ...rest,
    ...(ids && { browser_ids: ids }),
    ...(clicks && { clicks }),
    ...(campaign && { campaign_first: campaign }),
    ...(group !== undefined && { group_id: group }),
    ...(digest !== undefined && { traits_digest: digest }),
  };
}

function rememberClicks(
  context: JsonObject,
  { received_at }: MemoryInput,
  memory: CompiledMemory,
  known: Remembered | undefined,
  canonical: JsonObject,
  changed: string[],
): Remembered | undefined {
  if (canonical.advertising === false) return undefined;
  const sent = ownObject(context, 'click_ids');
  const cookies = ownObject(context, 'vendor_ids');
  if (known === undefined && sent === undefined && cookies === undefined) return undefined;
  const allowed = (param: string) => memory.clicks.get(param)?.needs.every((category) => canonical[category] === true) ?? false;
  let next: Record<string, readonly [string, number]> | undefined;
  const note = (param: string, value: unknown, at: number, isCookie: boolean) => {
    if (typeof value !== 'string' || value === '' || value.length > MAX_VALUE || !allowed(param)) return;
    const before = (next ?? known)?.[param];
    // Seeing the same click again keeps its first time. A cookie does not replace a newer click.
    if (before && (before[0] === value || (isCookie && before[1] >= at))) return;
    next ??= { ...known };
    next[param] = [value, Math.min(at, received_at)];
  };
  for (const [name, value] of Object.entries(cookies ?? {})) {
    const click = typeof value === 'string' ? clickFromCookie(name, value) : undefined;
    if (click) note(click.param, click.value, click.at ?? received_at, true);
  }
  for (const [param, value] of Object.entries(sent ?? {})) note(param, value, received_at, false);
  const kept = withoutExpired(next ?? known, received_at, memory);
  addClicks(context, kept, allowed, changed);
  return kept;
}

function withoutExpired(clicks: Remembered | undefined, now: number, memory: CompiledMemory): Remembered | undefined {
  if (clicks === undefined) return undefined;
  const entries = Object.entries(clicks);
  const live = entries.filter(([param, [, at]]) => now - at < (memory.clicks.get(param)?.kept_ms ?? 0));
  if (live.length === entries.length && live.length <= MAX_CLICKS) return clicks;
  const newest = live.sort(([, [, a]], [, [, b]]) => b - a).slice(0, MAX_CLICKS);
  return newest.length === 0 ? undefined : Object.fromEntries(newest);
}

/** Click ids already on the event are kept. */
function addClicks(context: JsonObject, clicks: Remembered | undefined, allowed: (param: string) => boolean, changed: string[]): void {
  for (const [param, [value]] of Object.entries(clicks ?? {})) {
    if (!allowed(param)) continue;
    const ids = objectIn(context, 'click_ids');
    if (ids === undefined) return;
    if (Object.hasOwn(ids, param)) continue;
    setOwn(ids, param, value);
    changed.push(`context.click_ids.${param}`);
  }
}

/** For an event without a visitor, of whom nothing is remembered. */
export function applyClickTimes({ context }: CanonicalEvent, received_at: number, decisions: Decision[]): void {
  const changed: string[] = [];
  addClickTimes(context, received_at, undefined, canonicalConsent(context), changed);
  if (changed.length > 0) decisions.push({ step: 'memory', result: 'completed', changed });
}

/** Adds when each click id of the event was seen: as remembered, else now. Stores nothing, so only a denial of consent prevents it. */
function addClickTimes(
  context: JsonObject,
  received_at: number,
  clicks: Remembered | undefined,
  canonical: JsonObject,
  changed: string[],
): void {
  const ids = canonical.advertising === false ? undefined : ownObject(context, 'click_ids');
  if (ids === undefined) return;
  const received = isoTime(received_at);
  let added = false;
  for (const [param, value] of Object.entries(ids)) {
    if (typeof value !== 'string' || value === '') continue;
    const times = objectIn(context, 'click_id_times');
    if (times === undefined) return;
    if ((own(times, param) ?? null) !== null) continue;
    const known = clicks !== undefined && Object.hasOwn(clicks, param) ? clicks[param] : undefined;
    setOwn(times, param, known?.[0] === value ? isoTime(known[1]) : received);
    added = true;
  }
  if (added) changed.push('context.click_id_times');
}

function canonicalConsent(context: JsonObject): JsonObject {
  return ownObject(ownObject(context, 'consent'), 'canonical') ?? {};
}

/** Returns an object to add to, or undefined if the client sent something else under this name. */
function objectIn(context: JsonObject, key: string): JsonObject | undefined {
  const present = own(context, key);
  if (present === undefined || present === null) return (context[key] = {});
  return isObject(present) ? (present as JsonObject) : undefined;
}

function rememberBrowserIds(
  context: JsonObject,
  { received_at, cookies, id_consent, consent }: MemoryInput,
  known: Remembered | undefined,
  canonical: JsonObject,
  changed: string[],
): Remembered | undefined {
  const ofJitsu = cookiesOfJitsu(context);
  const sent = ofJitsu === undefined ? cookies : { ...ofJitsu, ...cookies };
  const ofCookies = sent === undefined ? undefined : idsOfCookies(sent);
  if (known === undefined && ofCookies === undefined && ownObject(context, 'vendor_ids') === undefined) return undefined;
  const categoryOf = (name: string) => BROWSER_IDS.get(name) ?? (name.startsWith('ga_') ? 'analytics' : 'advertising');
  const allowed = (name: string) => id_consent.get(name)?.some((category) => isGranted(canonical, category, consent)) ?? true;
  const add = (name: string, value: unknown) => {
    if (!allowed(name)) return;
    const ids = objectIn(context, 'vendor_ids');
    if (ids === undefined || Object.hasOwn(ids, name)) return;
    setOwn(ids, name, value as JsonObject[string]);
    changed.push(`context.vendor_ids.${name}`);
  };
  // Cookies of the current request may be used unless consent is denied; with the consent category of a sync, only if that is granted.
  // Remembering needs a grant.
  for (const [name, value] of Object.entries(ofCookies ?? {})) if (canonical[categoryOf(name)] !== false) add(name, value);
  let next: Record<string, readonly [string, number]> | undefined;
  for (const [name, value] of Object.entries(ownObject(context, 'vendor_ids') ?? {})) {
    const category = BROWSER_IDS.get(name);
    if (category === undefined || canonical[category] !== true || typeof value !== 'string' || value.length > MAX_VALUE) continue;
    if (known?.[name]?.[0] === value) continue;
    next ??= { ...known };
    next[name] = [value, received_at];
  }
  const current = next ?? known;
  if (current === undefined) return undefined;
  const entries = Object.entries(current);
  const live = entries.filter(([name, [, at]]) => canonical[categoryOf(name)] !== false && received_at - at < BROWSER_KEPT_MS);
  for (const [name, [value]] of live) if (canonical[categoryOf(name)] === true) add(name, value);
  return live.length === entries.length ? current : live.length === 0 ? undefined : Object.fromEntries(live);
}

function rememberCampaign(
  context: JsonObject,
  known: VisitorState['campaign_first'],
  canonical: JsonObject,
  changed: string[],
): VisitorState['campaign_first'] {
  if (canonical.analytics === false && canonical.advertising !== true) return undefined;
  const campaign = known ?? firstCampaign(ownObject(context, 'campaign'));
  if (campaign !== undefined && (own(context, 'campaign_first') ?? null) === null) {
    context.campaign_first = { ...campaign };
    changed.push('context.campaign_first');
  }
  return campaign;
}

function firstCampaign(campaign: JsonObject | undefined): Record<string, string> | undefined {
  const parts = ['source', 'medium', 'name', 'term', 'content'].flatMap((key) => {
    const value = ownText(campaign, key);
    return value === undefined ? [] : [[key, value.slice(0, MAX_CAMPAIGN_VALUE)] as const];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}

/** Keeps the group of the last group call, for vendors that want it on every event. */
function rememberGroup(event: CanonicalEvent, known: string | undefined, changed: string[]): string | undefined {
  const group = event.type === 'group' && event.group_id !== undefined && event.group_id.length <= MAX_GROUP ? event.group_id : known;
  if (group !== undefined && (own(event.context, 'group_id') ?? null) === null) {
    event.context.group_id = group;
    changed.push('context.group_id');
  }
  return group;
}

/** Marks events whose traits equal those of the visitor's last event with traits, so vendors need not set them again. */
function compareTraits(event: CanonicalEvent, known: string | undefined, changed: string[]): string | undefined {
  if (event.type === 'group' || !isObject(event.traits) || Object.keys(event.traits).length === 0) return known;
  const text = writeJson(event.traits);
  const digest = text === undefined ? undefined : sha256Hex(text).slice(0, 16);
  event.context.traits_changed = digest === undefined || digest !== known;
  changed.push('context.traits_changed');
  return digest ?? known;
}
