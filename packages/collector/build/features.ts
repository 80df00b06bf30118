/** Converts a pipeline's configuration to the constants of its bundle. User input stays data. */
import type { EventFilter, Pipeline } from '@firsthand/core/config/resources.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { secretPaths } from '@firsthand/core/vendor/secrets.ts';
import type { ClientSide } from '../src/types.ts';
import { CollectorConfigError, type CollectorConstants, categoryReader, collectorConstants, type ReadCategory } from './constants.ts';

export { CollectorConfigError } from './constants.ts';

export interface ClientSideInput {
  integration_id: string;
  vendor: string;
  /** Without secrets, with parameters filled in. */
  config: JsonObject;
  definition: unknown;
  consent_category?: string | null;
  event_filter?: EventFilter | null;
}
export interface BuildInput {
  pipeline: Pipeline;
  /** Built in for `delivery_method: download`; otherwise events go to the origin of the script. */
  ingest_url?: string;
  client_side: ClientSideInput[];
  /** The organisation's `consent.mapping`: raw name to canonical category. */
  consent_mapping?: Record<string, string>;
}

export function constantsOf(input: BuildInput): CollectorConstants {
  const { js_builder_config: js, identity_config: identity, pipeline_key, domain_allowlist } = input.pipeline;
  const category = categoryReader(input.consent_mapping);
  return collectorConstants({
    pipeline_key,
    ingest_url: js.delivery_method === 'download' ? (input.ingest_url ?? '') : '',
    global_variable: js.global_variable,
    consent_config: js.consent_config,
    ...(input.consent_mapping === undefined ? {} : { consent_mapping: input.consent_mapping }),
    vendor_syncs: { ...identity.vendor_sync, ...js.vendor_syncs },
    variables: js.variables ?? [],
    cross_domain: js.cross_domain || identity.cross_domain_enabled,
    domains: identity.cross_domain_domains.length > 0 ? identity.cross_domain_domains : domain_allowlist,
    client_side: input.client_side.map((one) => clientSideOf(one, category)),
  });
}

/** Throws, with the reason, if the integration would fail in every browser. */
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
    // An empty filter passes every event, as on the server.
    names: one.event_filter?.event_names?.length ? one.event_filter.event_names : null,
    config: one.config,
    // Sending does not need descriptions and variants.
    definition: { ...definition, description: '', website: '', variants: [] },
  };
}
