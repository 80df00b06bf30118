/** Checks a revision's config against its vendor, seals its secrets, replaces masks with the stored secrets, and masks responses. */
import { loadVendor } from '@firsthand/catalog/index.ts';
import { measureInSteps } from '@firsthand/core/config/budget.ts';
import type { DeliveryMode, Revision } from '@firsthand/core/config/resources.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { MAPPING_KEYS } from '@firsthand/core/mapping/mapping.ts';
import { finish } from '@firsthand/core/steps.ts';
import { validateConfigInSteps } from '@firsthand/core/vendor/compile.ts';
import type { ConfigFault } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { mergeConfig } from '@firsthand/core/vendor/merge.ts';
import { secretPaths } from '@firsthand/core/vendor/secrets.ts';
import { type ApiError, invalid, invalidFields } from '../../http/errors.ts';
import { finishInTurns, turns } from '../../runtime/turns.ts';
import type { Cipher, KeyedOrganisation } from '../../secrets/cipher.ts';
import { maskSecrets, type Path, pathText, type SecretAt, splitSecrets } from '../../secrets/mask.ts';
import { restoreMaskedInSteps } from '../../secrets/restore-masked.ts';
import { openConfig } from '../../stores/config/revision-configs.ts';
import type { StoredRevision } from '../../stores/config/revisions.ts';
import { storedJson } from '../../stores/config/stored-json.ts';
import type { AdminContext } from './deps.ts';

export async function requireVendor(key: string): Promise<VendorDefinition> {
  const vendor = await loadVendor(key);
  if (vendor === undefined) throw invalid('vendor', 'is not a vendor of the catalog (for other APIs use webhook or custom_http)');
  return vendor;
}

export interface ConfigRules {
  /** The config's path in the request body, for fault paths. */
  at?: string;
  /** A template may be incomplete; an integration may not. */
  complete?: boolean;
}
type Settings = Pick<AdminContext, 'settings'>;

/** Throws 422 with every fault and its path. */
export async function checkConfig(
  context: Settings,
  vendor: VendorDefinition,
  config: JsonObject,
  mode: DeliveryMode,
  rules: ConfigRules = {},
): Promise<void> {
  // The body was measured with masks in place of the stored secrets, and without the defaults of an install.
  await turns.bulk();
  const measured = await finishInTurns(measureInSteps(config));
  if (!measured.ok) throw invalid(rules.at ?? 'config', measured.message);
  const { missing, invalid: wrong } = await finishInTurns(validateConfigInSteps(vendor, config, urlRules(context)));
  const faults = [...wrong, ...(rules.complete ? missing : [])].map(({ field, message }) => ({
    field: below(rules.at ?? 'config', field),
    message,
  }));
  if (faults.length > 0) throw invalidFields(faults);
  if (mode !== 'client_side') return;
  if (!vendor.client_side) throw invalid('delivery_mode', `must be server_side: ${vendor.name} cannot be sent from the browser`);
  const [secret] = secretPaths(vendor, config);
  if (secret !== undefined)
    throw invalid('delivery_mode', `must be server_side: config.${pathText(secret)} is a secret, and the browser's file is public`);
}

/** Faults that prevent the revision from being assigned. */
export async function missingFields(context: Settings, vendor: VendorDefinition, config: JsonObject): Promise<ConfigFault[]> {
  const { missing, invalid: wrong } = await finishInTurns(validateConfigInSteps(vendor, config, urlRules(context)));
  return [...missing, ...wrong];
}

export function urlRules({ settings }: Settings) {
  return { mode: settings.mode, allow_private: settings.allowPrivateDestinations };
}
export function below(at: string, field: string): string {
  return field === '' ? at : field.startsWith('[') ? `${at}${field}` : `${at}.${field}`;
}

/** Masks in places without a stored secret. */
export function withoutMasks(vendor: VendorDefinition, sent: JsonObject): JsonObject {
  const { config, unknown } = finish(restoreMaskedInSteps(sent, {}, secretPaths(vendor, sent)));
  if (unknown.length > 0) throw unknownMasks(unknown);
  return config;
}

/**
 * What an install stores: the defaults of the variant with the sent config merged over them. The mappings of variants are of version 2, so a
 * config of version 1 brings its own steps and takes only the fields from the variant.
 */
export function installedConfig(
  vendor: VendorDefinition,
  { variant: key = 'default', config: sent = {} }: { variant?: string; config?: object },
): { variant: string; config: JsonObject } {
  const variant = vendor.variants.find((one) => one.key === key);
  if (variant === undefined) throw invalid('variant', `must be one of ${vendor.variants.map((one) => one.key).join(', ')}`);
  const replaced: readonly string[] = own(sent as JsonObject, 'version') === 1 ? MAPPING_KEYS : [];
  const defaults = Object.fromEntries(Object.entries(variant.default_config).filter(([name]) => !replaced.includes(name)));
  const merged = mergeConfig(defaults, withoutMasks(vendor, sent as JsonObject));
  return { variant: key, config: (isObject(merged) ? merged : {}) as JsonObject };
}

/** Replaces each mask with the newest stored secret that matches it, so that an earlier revision can be sent as the next one. */
export async function withStoredSecrets(
  vendor: VendorDefinition,
  sent: JsonObject,
  stored: AsyncIterable<JsonObject>,
): Promise<JsonObject> {
  const secrets = secretPaths(vendor, sent);
  let restored = finish(restoreMaskedInSteps(sent, {}, secrets));
  if (restored.unknown.length === 0) return restored.config;
  for await (const earlier of stored) {
    restored = await finishInTurns(restoreMaskedInSteps(restored.config, earlier, secrets));
    if (restored.unknown.length === 0) return restored.config;
  }
  throw unknownMasks(restored.unknown);
}

function unknownMasks(paths: readonly Path[]): ApiError {
  return invalidFields(
    paths.map((path) => ({
      field: `config.${pathText(path)}`,
      message: 'is a mask that fits no stored secret: send the secret itself',
    })),
  );
}

export function sealConfig(
  context: Pick<AdminContext, 'cipher'>,
  org: KeyedOrganisation,
  vendor: VendorDefinition,
  config: JsonObject,
): { config: string; secrets: string | null } {
  const { open, secrets } = splitSecrets(config, secretPaths(vendor, config));
  return { config: JSON.stringify(open), secrets: secrets.length === 0 ? null : context.cipher.sealText(org, JSON.stringify(secrets)) };
}

/** If the revision is damaged or its key is lost, returns the readable part. The snapshot has disabled it. */
export function openStored(context: Pick<AdminContext, 'cipher'>, org: KeyedOrganisation, stored: StoredRevision): JsonObject {
  try {
    return openConfig(context.cipher, org, stored);
  } catch {
    return storedJson<JsonObject>(stored.config, {});
  }
}

function sealedSecrets(cipher: Cipher, org: KeyedOrganisation, secrets: string | null): SecretAt[] {
  try {
    return secrets === null ? [] : (JSON.parse(cipher.openText(org, secrets)) as SecretAt[]);
  } catch {
    // Unreadable secrets stay sealed; the config has no value in their places.
    return [];
  }
}
/** For a vendor that was removed from the catalog, only this shows which places are secret. */
function sealedPaths({ cipher }: Pick<AdminContext, 'cipher'>, org: KeyedOrganisation, { secrets }: StoredRevision): Path[] {
  return sealedSecrets(cipher, org, secrets).map(({ path }) => path);
}

/** The revision as the API shows it. `opened`: its config, where the caller has it. */
export async function toRevision(
  context: Pick<AdminContext, 'cipher'>,
  org: KeyedOrganisation,
  vendorKey: string,
  stored: StoredRevision,
  opened?: JsonObject,
): Promise<Revision> {
  const { template_id, secrets: _secrets, config: _config, ...rest } = stored;
  const vendor = await loadVendor(vendorKey);
  await turns.bulk();
  const config = opened ?? openStored(context, org, stored);
  const secrets = vendor === undefined ? sealedPaths(context, org, stored) : secretPaths(vendor, config);
  return { ...rest, integration_id: template_id, config: maskSecrets(config, secrets) };
}
