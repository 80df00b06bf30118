/** Compiles one integration: puts the parameters into its config and compiles the vendor, once per config. */
import { gzipSync } from 'node:zlib';
import { loadedVendor } from '@firsthand/catalog/index.ts';
import type { Integration } from '@firsthand/core/config/resources.ts';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import { leftPlaceholders, missingParameter } from '@firsthand/core/mapping/parameters/placeholder.ts';
import { substitute } from '@firsthand/core/mapping/parameters/substitute.ts';
import { type CompileOptions, compileVendorInSteps } from '@firsthand/core/vendor/compile.ts';
import type { CompiledVendor, CompileResult } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { isSecretParameter, secretParameterValues, secretValues } from '@firsthand/core/vendor/secrets.ts';
import { jsonTemplateFields } from '@firsthand/core/vendor/template-body.ts';
import type { Settings } from '../config.ts';
import { privateKeys } from '../runtime/private-keys.ts';
import { finishInTurns } from '../runtime/turns.ts';
import type { IntegrationWithConfig } from '../stores/config/load-config.ts';
import type { OpenParameters } from '../stores/config/pipeline-parameters.ts';
import { ConfigMemo } from './config-memo.ts';
import { prepareConfiguration } from './prepare.ts';
import type { CompiledIntegration } from './types.ts';

export type CompileSettings = Pick<Settings, 'mode' | 'allowPrivateDestinations' | 'natsUrl'> & {
  /** False where no role reads compiled vendors: their compilation is most of the work of a load. */
  compilesVendors?: boolean;
};
export type Report = (severity: 'error' | 'warning', message: string) => void;

export async function compileIntegration(
  { config: stored, unreadable, ...integration }: IntegrationWithConfig,
  { parameters, sealed }: OpenParameters,
  settings: CompileSettings,
  report: Report,
  excess?: string,
): Promise<CompiledIntegration> {
  if (settings.compilesVendors === false) return { integration, config: {}, secrets: [], vendor: undefined, faults: [], warnings: [] };
  const shapely = isObject(stored);
  // A client-side config is published with the collector, so it gets no secret parameter.
  const published = integration.delivery_mode === 'client_side';
  const visible = published ? publicParameters({ parameters, sealed }) : parameters;
  const definition = loadedVendor(integration.vendor);
  const { config, missing, excess: added } = substituted(definition, shapely ? stored : {}, visible);
  const parameterSecrets = secretParameterValues(parameters, sealed);
  const secrets = [...secretsOnce(definition, config), ...parameterSecrets];
  const warnings = missing.map(missingParameter);
  const off = (faults: CompiledIntegration['faults']): CompiledIntegration => {
    for (const fault of faults) report('error', `${fault.field}: ${fault.message}`);
    return { integration, config, secrets, vendor: undefined, faults, warnings };
  };
  if (unreadable) return off(unreadable);
  const over = excess ?? added;
  if (over !== undefined) return off([{ field: 'config', message: over }]);
  if (!shapely) return off([{ field: 'config', message: 'The stored value is not an object.' }]);
  const hidden = published ? missing.filter((name) => Object.hasOwn(parameters, name)) : [];
  if (hidden.length > 0)
    return off(
      hidden.map((name) => ({ field: 'config', message: `The parameter ${name} is secret, and a client-side config is public.` })),
    );
  for (const warning of warnings) report('warning', warning);
  if (!definition) return off([{ field: 'vendor', message: `There is no vendor ${integration.vendor} in the catalog.` }]);
  // Values of parameters may be patterns. They are compiled one by one.
  if (config !== stored) await prepareConfiguration(config);
  const result = await compileOnce(definition, config, {
    mode: settings.mode,
    allow_private: settings.allowPrivateDestinations,
    secrets: parameterSecrets,
    pipeline_id: integration.pipeline_id,
  });
  if (!result.ok) return off([...result.missing, ...result.invalid]);
  const consent = consentWarnings(definition, integration.consent_category ?? result.vendor.consent_category);
  // The vendor also warns of missing parameters.
  const found = [...result.vendor.warnings, ...consent].filter((warning) => !warnings.includes(warning));
  for (const warning of found) report('warning', warning);
  const vendor = { ...result.vendor, concurrency: inFlightOf(integration, result.vendor) };
  return { integration, vendor_name: definition.name, config, secrets, vendor, faults: [], warnings: [...warnings, ...found] };
}

const placeholders = new ConfigMemo<boolean>();
const ownSecrets = new ConfigMemo<string[]>();
const compiledVendors = new ConfigMemo<CompileResult>();

/** A config without placeholders stays the same object, so that its results are found again. */
function substituted(
  definition: VendorDefinition | undefined,
  stored: JsonObject,
  parameters: Readonly<Record<string, string>>,
): ReturnType<typeof substitute> {
  const has = placeholders.get(stored, '') ?? placeholders.set(stored, '', leftPlaceholders(stored).length > 0);
  return has ? substitute(stored, parameters, definition && jsonTemplateFields(definition)) : { config: stored, missing: [] };
}

function secretsOnce(definition: VendorDefinition | undefined, config: JsonObject): readonly string[] {
  if (definition === undefined) return secretValues(definition, config);
  return ownSecrets.get(config, definition.key) ?? ownSecrets.set(config, definition.key, secretValues(definition, config));
}

/**
 * A compiled vendor holds no state, so integrations with the same config share it; not where it depends on the pipeline, by its secret
 * parameters or in the folder names of a driver.
 */
async function compileOnce(definition: VendorDefinition, config: JsonObject, options: CompileOptions): Promise<CompileResult> {
  const shared = definition.transport === undefined && options.secrets?.length === 0;
  const key = JSON.stringify([definition.key, options.mode, options.allow_private]);
  const known = shared ? compiledVendors.get(config, key) : undefined;
  if (known !== undefined) return known;
  const result = await finishInTurns(compileVendorInSteps(definition, config, { ...options, gzip: gzipSync, keys: privateKeys }));
  return shared ? compiledVendors.set(config, key, result) : result;
}

/** A driver's own number is a limit of its protocol or its order; that of an HTTP vendor is only a default. */
function inFlightOf({ max_in_flight }: Integration, { concurrency, transport }: CompiledVendor): number {
  if (max_in_flight === null) return concurrency;
  return transport === undefined ? max_in_flight : Math.min(max_in_flight, concurrency);
}

function publicParameters({ parameters, sealed }: OpenParameters): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !isSecretParameter(name) && !sealed.includes(name)));
}

/** Warns about advertising integrations without a consent category: they receive events of visitors who did not consent. */
function consentWarnings(
  { group, default_consent_category: proposed = 'advertising' }: VendorDefinition,
  category: string | null,
): string[] {
  if (category !== null || (group !== 'advertising' && group !== 'affiliate')) return [];
  return [
    `No consent category is set: events are delivered without the visitor’s consent to advertising. Set consent_category, for example to ${proposed}.`,
  ];
}
