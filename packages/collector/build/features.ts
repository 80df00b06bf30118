/** From a pipeline's configuration to the constants of its bundle. Pure; everything a user typed stays data. */
import { domainToASCII } from 'node:url';
import { isGlobalName, NAME_FAULT } from '@firsthand/core/config/global-name.ts';
import { DEFAULT_DATA_LAYER, type EventFilter, type Pipeline } from '@firsthand/core/config/resources.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { compileConsent } from '@firsthand/core/privacy/consent.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { secretPaths } from '@firsthand/core/vendor/secrets.ts';
import type { Category, ClientSide, Variable, VendorIds } from '../src/types.ts';
import { LIMITS } from './limits.ts';
import { VENDOR_COOKIES } from './vendor-cookies.ts';

export interface ClientSideInput {
  integration_id: string;
  vendor: string;
  /** Without secrets, parameters substituted. */
  config: JsonObject;
  definition: unknown;
  consent_category?: string | null;
  event_filter?: EventFilter | null;
}
export interface BuildInput {
  pipeline: Pipeline;
  /** Built in for `delivery_method: download`; else events go where the script came from. */
  ingest_url?: string;
  client_side: ClientSideInput[];
  /** The organisation's `consent.mapping`: which raw names mean a category. */
  consent_mapping?: Record<string, string>;
}

export type Constants = Record<string, boolean | number | string | object | null>;

const PROVIDERS = {
  onetrust: 'P_ONETRUST',
  cookiebot: 'P_COOKIEBOT',
  usercentrics: 'P_USERCENTRICS',
  didomi: 'P_DIDOMI',
  osano: 'P_OSANO',
  tcf: 'P_TCF',
  google_consent_mode: 'P_GOOGLE',
} as const;
const DEFAULT_WAIT_MS = 2000;

export class CollectorConfigError extends Error {}

export function constantsOf(input: BuildInput): Constants {
  const { pipeline } = input;
  const { js_builder_config: js, identity_config: identity } = pipeline;
  if (!isGlobalName(js.global_variable)) throw new CollectorConfigError(`global_variable ${NAME_FAULT}`);
  const category = categoryReader(input.consent_mapping ?? DEFAULT_DATA_LAYER.consent.mapping);

  const consent = js.consent_config;
  const hasConsent = Object.keys(consent).length > 0;
  const provider = consent.provider ?? 'auto';
  const required = category(consent.required_category);
  const vendorIds = vendorIdsOf(pipeline, category);
  const variables = (js.variables ?? []).map(variableOf);
  const domains = identity.cross_domain_domains.length > 0 ? identity.cross_domain_domains : pipeline.domain_allowlist;
  const clientSide = input.client_side.map((one) => clientSideOf(one, category));

  const providers = Object.entries(PROVIDERS).map(([name, flag]) => [flag, hasConsent && (provider === 'auto' || provider === name)]);
  return {
    ...LIMITS,
    ...Object.fromEntries(providers),
    P_CUSTOM: hasConsent && provider === 'custom',
    F_CONSENT: hasConsent,
    F_GATE: required !== null,
    F_VENDOR_IDS: vendorIds.length > 0,
    F_CROSS_DOMAIN: js.cross_domain || identity.cross_domain_enabled,
    F_VARIABLES: variables.length > 0,
    F_CLIENT_SIDE: clientSide.length > 0,
    C_KEY: pipeline.pipeline_key,
    C_GLOBAL: js.global_variable,
    C_INGEST_URL: js.delivery_method === 'download' ? (input.ingest_url ?? '').replace(/\/$/, '') : '',
    C_WAIT_MS: consent.wait_ms ?? DEFAULT_WAIT_MS,
    C_REQUIRED: required,
    C_VENDOR_IDS: vendorIds,
    C_DOMAINS: domains.map(hostOf),
    C_VARIABLES: variables,
    C_CLIENT_SIDE: JSON.stringify(clientSide),
  };
}

/** As links have it: the browser writes a name with letters of its own in ASCII (`münchen.example`, `xn--mnchen-3ya.example`). */
function hostOf(domain: string): string {
  const [name, port] = domain.replace(/^\*\./, '').split(':');
  const host = domainToASCII(name!) || name!.toLowerCase();
  return port ? `${host}:${port}` : host;
}

type ReadCategory = (name: string | null | undefined) => Category;

/** The raw names that mean a category, by the same table that the server judges with. */
function categoryReader(mapping: Record<string, string>): ReadCategory {
  const { categories } = compileConsent({ ...DEFAULT_DATA_LAYER.consent, mapping });
  const namesOf = (category: string) => {
    const names = [...categories].filter(([, canonical]) => canonical === category).map(([raw]) => raw.toLowerCase());
    return [...new Set([category.toLowerCase(), ...names])].sort();
  };
  return (name) => {
    if (!name || name === 'essential') return null;
    // A raw name is as good as the category it stands for.
    const category = categories.get(name) ?? categories.get(name.toLowerCase()) ?? name;
    if (category === 'essential') return null;
    const lists = [namesOf(category)];
    if (category === 'advertising') lists.push(namesOf('marketing'));
    return [lists, category === 'marketing' || category === 'advertising'];
  };
}

function vendorIdsOf(pipeline: Pipeline, category: ReadCategory): VendorIds[] {
  const syncs = { ...pipeline.identity_config.vendor_sync, ...pipeline.js_builder_config.vendor_syncs } as Record<string, unknown>;
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
/** The browser speaks the names of the wire; configuration speaks those of the canonical event. */
const WIRE_NAMES: Record<string, string> = {
  user_id: 'userId',
  anonymous_id: 'anonymousId',
  group_id: 'groupId',
  event_id: 'messageId',
  'context.user_agent': 'context.userAgent',
};

function variableOf(variable: { name: string; source: keyof typeof SOURCES; path: string; target: string }): Variable {
  const target = (WIRE_NAMES[variable.target] ?? variable.target).split('.');
  if (target.some((name) => name === '' || name === 'prototype' || name in Object.prototype)) {
    throw new CollectorConfigError(`variables: "${variable.name}" has a target that no event can hold`);
  }
  const source = SOURCES[variable.source];
  if (source === 'd' || source === 'j') return [source, variable.path.split(/[.[\]]+/).filter(Boolean), target];
  return [source, variable.path, target];
}

/** Whatever would fail in every browser fails here, once and with the reason. */
function clientSideOf(one: ClientSideInput, category: ReadCategory): ClientSide {
  const definition = one.definition as VendorDefinition;
  const [secret] = secretPaths(definition, one.config);
  if (secret) throw new CollectorConfigError(`${one.integration_id}: "${secret.join('.')}" is a secret, which no page may carry`);
  const compiled = compileVendor(definition, one.config, { mode: 'development', allow_private: true });
  if (!compiled.ok) {
    const faults = [...compiled.missing, ...compiled.invalid].map(({ field, message }) => `${field} ${message}`);
    throw new CollectorConfigError(`${one.integration_id}: ${faults.join('; ')}`);
  }
  const own = one.config.consent_category;
  return {
    category: category(one.consent_category ?? (typeof own === 'string' ? own : null)),
    names: one.event_filter?.event_names ?? null,
    config: one.config as Record<string, unknown>,
    // Of the definition only what sending needs; the rest is for people.
    definition: { ...definition, description: '', website: '', variants: [] } as unknown as Record<string, unknown>,
  };
}
