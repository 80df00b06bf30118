/** The constants of the collector, from its settings. Uses no Node API: the builder and the npm package share it. */
import { isGlobalName, NAME_FAULT } from '@firsthand/core/config/global-name.ts';
import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { compileConsent } from '@firsthand/core/privacy/consent.ts';
import type { Category, ClientSide, Variable, VendorIds } from '../src/types.ts';
import { LIMITS } from './limits.ts';
import { VENDOR_COOKIES } from './vendor-cookies.ts';

export interface CollectorSettings {
  pipeline_key: string;
  /** Empty: events go to the origin of the script. */
  ingest_url: string;
  global_variable: string;
  consent_config: { provider?: string; wait_ms?: number; required_category?: string | null };
  /** Raw name to canonical category. */
  consent_mapping?: Record<string, string>;
  vendor_syncs: Record<string, unknown>;
  variables: readonly VariableSettings[];
  cross_domain: boolean;
  domains: readonly string[];
  client_side: ClientSide[];
}
export interface VariableSettings {
  name: string;
  source: keyof typeof SOURCES;
  path: string;
  target: string;
}

const DEFAULT_WAIT_MS = 2000;

export class CollectorConfigError extends Error {}

export type CollectorConstants = ReturnType<typeof collectorConstants>;

export function collectorConstants(settings: CollectorSettings) {
  const { consent_config: consent } = settings;
  if (!isGlobalName(settings.global_variable)) throw new CollectorConfigError(`global_variable ${NAME_FAULT}`);
  const category = categoryReader(settings.consent_mapping);
  const hasConsent = Object.keys(consent).length > 0;
  const provider = consent.provider ?? 'auto';
  const speaks = (name: string) => hasConsent && (provider === 'auto' || provider === name);
  const required = category(consent.required_category);
  const vendorIds = vendorIdsOf(settings.vendor_syncs, category);
  const variables = settings.variables.map(variableOf);
  return {
    ...LIMITS,
    P_ONETRUST: speaks('onetrust'),
    P_COOKIEBOT: speaks('cookiebot'),
    P_USERCENTRICS: speaks('usercentrics'),
    P_DIDOMI: speaks('didomi'),
    P_OSANO: speaks('osano'),
    P_TCF: speaks('tcf'),
    P_GOOGLE: speaks('google_consent_mode'),
    P_CUSTOM: hasConsent && provider === 'custom',
    F_CONSENT: hasConsent,
    F_GATE: required !== null,
    F_VENDOR_IDS: vendorIds.length > 0,
    F_CROSS_DOMAIN: settings.cross_domain,
    F_VARIABLES: variables.length > 0,
    F_CLIENT_SIDE: settings.client_side.length > 0,
    C_KEY: settings.pipeline_key,
    C_GLOBAL: settings.global_variable,
    C_INGEST_URL: settings.ingest_url.replace(/\/$/, ''),
    C_WAIT_MS: consent.wait_ms ?? DEFAULT_WAIT_MS,
    C_REQUIRED: required,
    C_VENDOR_IDS: vendorIds,
    C_DOMAINS: settings.domains.map(hostOf),
    C_VARIABLES: variables,
    C_CLIENT_SIDE: JSON.stringify(settings.client_side),
  };
}

/** The names of all constants that src/constants.d.ts declares. */
export const CONSTANT_NAMES: readonly string[] = Object.keys(
  collectorConstants({
    pipeline_key: '',
    ingest_url: '',
    global_variable: '_df',
    consent_config: {},
    vendor_syncs: {},
    variables: [],
    cross_domain: false,
    domains: [],
    client_side: [],
  }),
);

/** The host as links show it: browsers convert `münchen.example` to `xn--mnchen-3ya.example`. */
function hostOf(domain: string): string {
  const [name, port] = domain.replace(/^\*\./, '').split(':');
  const written = (name ?? '').toLowerCase();
  const host = URL.canParse(`http://${written}`) ? new URL(`http://${written}`).hostname : written;
  return port ? `${host}:${port}` : host;
}

export type ReadCategory = (name: string | null | undefined) => Category;

/** Finds the raw names of a category, with the same table as the server. */
export function categoryReader(mapping: Record<string, string> = DEFAULT_DATA_LAYER.consent.mapping): ReadCategory {
  const { categories } = compileConsent({ ...DEFAULT_DATA_LAYER.consent, mapping });
  const namesOf = (category: string) => {
    const names = [...categories].filter(([, canonical]) => canonical === category).map(([raw]) => raw.toLowerCase());
    return [...new Set([category.toLowerCase(), ...names])].sort();
  };
  return (name) => {
    if (!name || name === 'essential') return null;
    // A raw name stands for its category.
    const category = categories.get(name) ?? categories.get(name.toLowerCase()) ?? name;
    if (category === 'essential') return null;
    const lists = [namesOf(category)];
    if (category === 'advertising') lists.push(namesOf('marketing'));
    return [lists, category === 'marketing' || category === 'advertising'];
  };
}

function vendorIdsOf(syncs: Record<string, unknown>, category: ReadCategory): VendorIds[] {
  const out: VendorIds[] = [];
  for (const vendor of Object.keys(syncs).sort()) {
    const sync = syncs[vendor] as { enabled?: boolean; consent_category?: string } | boolean | null;
    const cookies = VENDOR_COOKIES.get(vendor);
    if (!sync || !cookies || (typeof sync === 'object' && sync.enabled === false)) continue;
    out.push([category(typeof sync === 'object' ? sync.consent_category : null), cookies]);
  }
  return out;
}

const SOURCES = { data_layer: 'd', js_variable: 'j', cookie: 'c', query: 'q', meta: 'm', selector: 's' } as const;
/** Canonical field names, as in the configuration, to wire names, as in the browser. */
const WIRE_NAMES: Record<string, string> = {
  user_id: 'userId',
  anonymous_id: 'anonymousId',
  group_id: 'groupId',
  event_id: 'messageId',
  'context.user_agent': 'context.userAgent',
};

function variableOf(variable: VariableSettings): Variable {
  const target = (WIRE_NAMES[variable.target] ?? variable.target).split('.');
  if (target.some((name) => name === '' || name === 'prototype' || name in Object.prototype)) {
    throw new CollectorConfigError(`variables: "${variable.name}" has a target that no event can hold`);
  }
  const source = SOURCES[variable.source];
  if (source === 'd' || source === 'j') return [source, variable.path.split(/[.[\]]+/).filter(Boolean), target];
  return [source, variable.path, target];
}
