/**
 * Step 2: turns whatever a consent tool sent into one set of booleans, `context.consent.canonical`. The raw input stays.
 * An unknown category stays absent: an integration that requires it does not get the event.
 */
import type { DataLayerConfig } from '../config/resources.ts';
import { ownObject } from '../context/objects.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { DEFAULT_CONSENT } from '../inbound/map-webhook.ts';
import { isObject, type JsonObject, own } from '../json.ts';
import type { Decision } from '../outcome/outcome.ts';

const CANONICAL_CATEGORIES: readonly string[] = ['essential', 'analytics', 'marketing', 'advertising', 'functional'];

/**
 * Google's consent-mode signals. `ad_personalization` has no category of its own: OR-ing it into `advertising` would
 * override a denied `ad_user_data`. A mapping entry of the organisation wins over this table.
 */
const GOOGLE_SIGNALS: ReadonlyMap<string, string> = new Map([
  ['ad_storage', 'marketing'],
  ['ad_user_data', 'advertising'],
  ['analytics_storage', 'analytics'],
  ['functionality_storage', 'functional'],
  ['personalization_storage', 'functional'],
  ['security_storage', 'essential'],
]);

/**
 * Categories of consent tools that mean `functional` for every customer of the tool: Cookiebot's `preferences`, which Cookiebot sends to
 * Google as functionality and personalization storage, and Osano's `PERSONALIZATION`. Ids that a customer chooses (OneTrust's groups,
 * Didomi's purposes, slugs of Usercentrics) and TCF's purposes are for the organisation to map.
 */
const TOOL_CATEGORIES: ReadonlyMap<string, string> = new Map([
  ['preferences', 'functional'],
  ['personalization', 'functional'],
]);

const CHANGED = ['context.consent.canonical'];
/** Entries read from one list or object. Real tools send a few dozen; the IAB's vendor list has about a thousand. */
const MAX_ENTRIES = 5_000;

export interface CompiledConsent {
  /** Raw name, exact and in lower case, to canonical category. */
  categories: ReadonlyMap<string, string>;
  /** Canonical categories that the organisation's consent tool decides. */
  mapped: readonly string[];
  defaults: readonly [string, boolean][];
  honour_gpc: boolean;
}

export function compileConsent(config: DataLayerConfig['consent']): CompiledConsent {
  const categories = new Map<string, string>([...GOOGLE_SIGNALS, ...TOOL_CATEGORIES]);
  for (const name of CANONICAL_CATEGORIES) categories.set(name, name);
  const mapping = Object.entries(config.mapping);
  for (const [, canonical] of mapping) categories.set(canonical.toLowerCase(), canonical);
  for (const [raw, canonical] of mapping) categories.set(raw.toLowerCase(), canonical);
  for (const [raw, canonical] of mapping) categories.set(raw, canonical);
  const mapped = [...new Set(mapping.map(([, canonical]) => canonical))];
  return { categories, mapped, defaults: Object.entries(config.default), honour_gpc: config.honour_gpc };
}

export function applyConsent({ context }: CanonicalEvent, consent: CompiledConsent, decisions: Decision[]): void {
  const { canonical, gpcDenied } = resolveConsent(context, consent);
  const sent = ownObject(context, 'consent');
  if (sent === undefined) context.consent = { canonical };
  else sent.canonical = canonical;
  decisions.push({
    step: 'consent',
    result: gpcDenied ? 'gpc_denied' : 'resolved',
    changed: CHANGED,
    detail: fromDefault(sent) + summary(canonical),
  });
}

type Canonical = { [category: string]: boolean };

/** Reads `consent`, `consentManagement` and `gpc` of an event's context, and changes nothing. */
export function resolveConsent(context: JsonObject, consent: CompiledConsent): { canonical: Canonical; gpcDenied: boolean } {
  const sent = ownObject(context, 'consent');
  const canonical: Canonical = {};
  const note = (name: string, granted: boolean | undefined) => {
    if (granted === undefined) return;
    const category = consent.categories.get(name) ?? consent.categories.get(name.toLowerCase());
    if (category !== undefined) canonical[category] = canonical[category] === true || granted;
  };
  let listed = false;
  if (sent !== undefined) {
    for (const key of ['categories', 'categoryPreferences', 'category_preferences']) {
      if (noteCategories(own(sent, key), note)) listed = true;
    }
    if (noteIds(sent, note)) listed = true;
    noteSignals(sent, note);
    for (const key of ['google', 'google_consent_mode', 'consent_mode'] as const) {
      const signals = ownObject(sent, key);
      if (signals !== undefined) noteSignals(signals, note);
    }
  }
  const rudderstack = ownObject(context, 'consentManagement');
  if (rudderstack !== undefined && noteIds(rudderstack, note)) listed = true;
  // A list of granted categories denies the rest. A default must not grant them.
  if (listed) for (const category of consent.mapped) canonical[category] ??= false;

  const client = sent === undefined ? undefined : ownObject(sent, 'canonical');
  if (client !== undefined) {
    for (const key of Object.keys(client).slice(0, MAX_ENTRIES)) {
      const granted = toGranted(client[key]);
      if (granted !== undefined && key !== '__proto__' && !Object.hasOwn(canonical, key)) canonical[key] = granted;
    }
  }
  for (const [category, granted] of consent.defaults) if (!Object.hasOwn(canonical, category)) canonical[category] = granted;
  if (!Object.hasOwn(canonical, 'advertising') && Object.hasOwn(canonical, 'marketing'))
    canonical.advertising = canonical.marketing === true;
  canonical.essential = true;
  const gpcDenied = consent.honour_gpc && own(context, 'gpc') === true;
  if (gpcDenied) {
    canonical.marketing = false;
    canonical.advertising = false;
  }
  return { canonical, gpcDenied };
}

/** A configuration may name a raw category; it means the canonical one. */
export function isGranted(canonical: JsonObject, name: string, { categories }: Pick<CompiledConsent, 'categories'>): boolean {
  return own(canonical, categories.get(name) ?? name) === true;
}

/** Says in the trace that the visitor did not answer: a setting of the webhook source did. */
function fromDefault(sent: JsonObject | undefined): string {
  return sent !== undefined && own(sent, 'source') === DEFAULT_CONSENT ? 'default of the webhook source; ' : '';
}

type Note = (name: string, granted: boolean | undefined) => void;

/** Reads booleans, `granted`/`denied`, or a list of granted names. Returns whether it was a list. */
function noteCategories(raw: unknown, note: Note): boolean {
  if (Array.isArray(raw)) {
    for (const name of raw.slice(0, MAX_ENTRIES)) if (typeof name === 'string') note(name, true);
    return true;
  }
  if (isObject(raw)) for (const name of Object.keys(raw).slice(0, MAX_ENTRIES)) note(name, toGranted(raw[name]));
  return false;
}

/** RudderStack: lists or objects of allowed and denied ids. Returns whether the allowed ids are there. */
function noteIds(holder: JsonObject, note: Note): boolean {
  let listed = false;
  for (const [key, granted] of [
    ['deniedConsentIds', false],
    ['allowedConsentIds', true],
  ] as const) {
    const ids = own(holder, key);
    if (granted && (Array.isArray(ids) || isObject(ids))) listed = true;
    const values = Array.isArray(ids) ? ids : isObject(ids) ? Object.values(ids) : [];
    for (const id of values.slice(0, MAX_ENTRIES)) if (typeof id === 'string') note(id, granted);
  }
  return listed;
}

function noteSignals(holder: JsonObject, note: Note): void {
  for (const key of Object.keys(holder)) {
    if (key.length > 8 && (GOOGLE_SIGNALS.has(key) || key === 'ad_personalization')) note(key, toGranted(holder[key]));
  }
}

function toGranted(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value === 1 ? true : value === 0 ? false : undefined;
  if (typeof value !== 'string') return undefined;
  switch (value.toLowerCase()) {
    case 'granted':
    case 'true':
    case '1':
    case 'yes':
      return true;
    case 'denied':
    case 'false':
    case '0':
    case 'no':
      return false;
    default:
      return undefined;
  }
}

const MAX_SUMMARY = 1_000;
function summary(canonical: Canonical): string {
  let granted = '';
  for (const category of Object.keys(canonical)) {
    if (granted.length > MAX_SUMMARY) return granted;
    if (canonical[category]) granted += granted === '' ? category : ` ${category}`;
  }
  return granted;
}
