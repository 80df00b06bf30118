/** A revision's config on its way in and out: checked against the vendor, secrets sealed, masks restored, answers masked. */
import { loadVendor } from '@firsthand/catalog/index.ts';
import type { DeliveryMode, Revision } from '@firsthand/core/config/resources.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { validateConfig } from '@firsthand/core/vendor/compile.ts';
import type { ConfigFault } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { secretPaths } from '@firsthand/core/vendor/secrets.ts';
import { type ApiError, invalid, invalidFields } from '../../http/errors.ts';
import type { Cipher, KeyedOrganisation } from '../../secrets/cipher.ts';
import { type IsSecretPath, maskSecrets, type Path, pathText, restoreMasked, type SecretAt, splitSecrets } from '../../secrets/mask.ts';
import { openConfig } from '../../stores/config/load-config.ts';
import type { StoredRevision } from '../../stores/config/revisions.ts';
import { storedJson } from '../../stores/config/stored-json.ts';
import type { AdminContext } from './deps.ts';

export async function requireVendor(key: string, field = 'vendor'): Promise<VendorDefinition> {
  const vendor = await loadVendor(key);
  if (vendor === undefined) throw invalid(field, 'is not a vendor of the catalog (for other APIs use webhook or custom_http)');
  return vendor;
}

function secretPlaces(vendor: VendorDefinition, config: JsonObject): IsSecretPath {
  const places = new Set(secretPaths(vendor, config).map((path) => path.join('\n')));
  return (path) => places.has(path.join('\n'));
}

export interface ConfigRules {
  /** Where the config stands in the request, for the paths of faults. */
  at?: string;
  /** A template may be incomplete; what is assigned to a pipeline may not. */
  complete?: boolean;
}
type Settings = Pick<AdminContext, 'settings'>;

/** Throws 422 with every fault and its path. */
export function checkConfig(
  context: Settings,
  vendor: VendorDefinition,
  config: JsonObject,
  mode: DeliveryMode,
  rules: ConfigRules = {},
): void {
  const { missing, invalid: wrong } = validateConfig(vendor, config, urlRules(context));
  const faults = [...wrong, ...(rules.complete ? missing : [])].map(({ field, message }) => ({
    field: below(rules.at ?? 'config', field),
    message,
  }));
  if (faults.length > 0) throw invalidFields(faults);
  if (mode !== 'client_side') return;
  if (!vendor.client_side) throw invalid('delivery_mode', `must be server_side: ${vendor.name} cannot be sent from the browser`);
  const [secret] = secretPaths(vendor, config);
  if (secret !== undefined)
    throw invalid('delivery_mode', `must be server_side: config.${secret.join('.')} is a secret, and the browser's file is public`);
}

/** What keeps the revision from being assigned: nothing where the list is empty. */
export function missingFields(context: Settings, vendor: VendorDefinition, config: JsonObject): ConfigFault[] {
  const { missing, invalid: wrong } = validateConfig(vendor, config, urlRules(context));
  return [...missing, ...wrong];
}

export function urlRules({ settings }: Settings) {
  return { mode: settings.mode, allow_private: settings.allowPrivateDestinations };
}
function below(at: string, field: string): string {
  return field === '' ? at : field.startsWith('[') ? `${at}${field}` : `${at}.${field}`;
}

/** Masks written where nothing is stored yet. */
export function withoutMasks(vendor: VendorDefinition, sent: JsonObject): JsonObject {
  const { config, unknown } = restoreMasked(sent, {}, secretPlaces(vendor, sent));
  if (unknown.length > 0) throw unknownMasks(unknown);
  return config;
}

/** Masks written back become the stored secrets again: the newest that fits, so that an earlier revision can be sent as the next one. */
export async function withStoredSecrets(
  vendor: VendorDefinition,
  sent: JsonObject,
  stored: AsyncIterable<JsonObject>,
): Promise<JsonObject> {
  let restored = restoreMasked(sent, {}, secretPlaces(vendor, sent));
  if (restored.unknown.length === 0) return restored.config;
  for await (const earlier of stored) {
    restored = restoreMasked(restored.config, earlier, secretPlaces(vendor, restored.config));
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
  const { open, secrets } = splitSecrets(config, secretPlaces(vendor, config));
  return { config: JSON.stringify(open), secrets: secrets.length === 0 ? null : context.cipher.sealText(org, JSON.stringify(secrets)) };
}

/** A revision that is damaged, or sealed under a key that is lost, opens as what is left of it; the snapshot has turned it off. */
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
    // They stay sealed: the open part holds nothing in their places.
    return [];
  }
}
/** Of a vendor that has left the catalog nothing else tells which places are secret. */
function sealedPlaces({ cipher }: Pick<AdminContext, 'cipher'>, org: KeyedOrganisation, { secrets }: StoredRevision): IsSecretPath {
  const places = new Set(sealedSecrets(cipher, org, secrets).map(({ path }) => path.join('\n')));
  return (path) => places.has(path.join('\n'));
}

/** The revision as the API shows it. */
export async function toRevision(
  context: Pick<AdminContext, 'cipher'>,
  org: KeyedOrganisation,
  vendorKey: string,
  stored: StoredRevision,
): Promise<Revision> {
  const { template_id, secrets: _secrets, config: _config, ...rest } = stored;
  const config = openStored(context, org, stored);
  const vendor = await loadVendor(vendorKey);
  const isSecret = vendor === undefined ? sealedPlaces(context, org, stored) : secretPlaces(vendor, config);
  return { ...rest, integration_id: template_id, config: maskSecrets(config, isSecret) };
}
