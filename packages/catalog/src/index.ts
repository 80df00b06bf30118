/**
 * The integration catalog. It is built into the service and needs no stored data. A definition is loaded when it is first used: with 120
 * vendors an installation needs a few of them, and their mappings are large.
 */
import {
  CATEGORIES,
  type Category,
  type ConfigField,
  type ConsentCategory,
  type Group,
  type Variant,
  type VendorDefinition,
} from '@firsthand/core/vendor/definition.ts';
import { VENDOR_MODULES } from './vendors/generated/modules.ts';
import type { VendorCases } from './vendors/shared/cases.ts';

export { CATEGORIES };

const loaded = new Map<string, VendorDefinition>();

/** All keys, in alphabetical order. */
export const VENDOR_KEYS: readonly string[] = Object.keys(VENDOR_MODULES);

export async function loadVendor(key: string): Promise<VendorDefinition | undefined> {
  const known = loaded.get(key);
  if (known || !Object.hasOwn(VENDOR_MODULES, key)) return known;
  const definition = (await VENDOR_MODULES[key]?.vendor())?.default;
  if (definition) loaded.set(key, definition);
  return definition;
}

/** Loads several. Keys that are not in the catalog are ignored. */
export async function loadVendors(keys: Iterable<string> = VENDOR_KEYS): Promise<VendorDefinition[]> {
  const found = await Promise.all([...new Set(keys)].map(loadVendor));
  return found.filter((vendor) => vendor !== undefined);
}

/** A definition that `loadVendor` or `loadVendors` has already loaded. */
export function loadedVendor(key: string): VendorDefinition | undefined {
  return loaded.get(key);
}

/** The vendor's cases: tests run them. */
export async function loadCases(key: string): Promise<VendorCases | undefined> {
  return Object.hasOwn(VENDOR_MODULES, key) ? (await VENDOR_MODULES[key]?.cases())?.default : undefined;
}

export type CatalogField = Pick<ConfigField, 'key' | 'label' | 'type' | 'required' | 'placeholder' | 'help_text' | 'options' | 'default'>;
/** The catalog vendor of the management API. */
export interface CatalogEntry {
  key: string;
  name: string;
  description: string;
  category: Category;
  group: Group;
  status: 'ga' | 'beta';
  website: string;
  setup_steps: string[];
  default_consent_category: ConsentCategory | null;
  docs: { url: string; api_version: string | null; checked: string | null; notes: string[] };
  /** Null: there is no OAuth connect flow. */
  connect: { provider: string; scopes: string[] } | null;
  config_fields: CatalogField[];
  variants: Variant[];
}

export function catalogEntry(vendor: VendorDefinition): CatalogEntry {
  const { key, name, description, category, group, status, website, setup_steps, config_fields, variants, connect } = vendor;
  const { api_version, notes = [], default_consent_category = null } = vendor;
  return {
    key,
    name,
    description,
    category,
    group,
    status,
    website,
    setup_steps,
    default_consent_category,
    docs: { url: website, api_version: api_version?.version ?? null, checked: api_version?.checked ?? null, notes },
    connect: connect ? { provider: connect.provider, scopes: connect.scopes } : null,
    config_fields: config_fields.map(catalogField),
    variants,
  };
}

function catalogField(field: ConfigField): CatalogField {
  const { key, label, type, required, placeholder, help_text, options } = field;
  return {
    key,
    label,
    type,
    required,
    placeholder,
    help_text,
    ...(options ? { options } : {}),
    ...(field.default === undefined ? {} : { default: field.default }),
  };
}

/** Searches name and description case-insensitively, and filters by exact values. */
export async function searchVendors(query: { search?: string; category?: string; status?: string }): Promise<VendorDefinition[]> {
  const wanted = query.search?.toLowerCase() ?? '';
  return (await loadVendors()).filter(
    (vendor) =>
      (wanted === '' || vendor.name.toLowerCase().includes(wanted) || vendor.description.toLowerCase().includes(wanted)) &&
      (query.category === undefined || vendor.category === query.category) &&
      (query.status === undefined || vendor.status === query.status),
  );
}
