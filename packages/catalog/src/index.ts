/**
 * The integration catalog. It is built into the service and needs no stored data. A definition is loaded when it is first used: with 120
 * vendors an installation needs a few of them, and their mappings are large. The list of all vendors comes from a generated index without
 * mappings.
 */
import {
  CATEGORIES,
  type Category,
  type ConfigField,
  type ConsentCategory,
  type FieldType,
  type Group,
  type RowType,
  type TestMode,
  type ValueType,
  type Variant,
  type VendorDefinition,
} from '@firsthand/core/vendor/definition.ts';
import { MAX_ROWS } from '@firsthand/core/vendor/fields.ts';
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

export interface CatalogColumn
  extends Pick<ConfigField, 'key' | 'label' | 'required' | 'placeholder' | 'help_text' | 'options' | 'default' | 'multiline'> {
  type: ValueType;
}
export interface CatalogField extends CatalogColumn {
  /** Set if the value is a list, or its JSON text. */
  rows?: RowType;
  /** With `rows` only. */
  columns?: CatalogColumn[];
  /** With `rows` only. */
  max_rows?: number;
}
/** A vendor in the list. */
export interface CatalogListEntry {
  key: string;
  name: string;
  description: string;
  category: Category;
  group: Group;
  status: 'ga' | 'beta';
  website: string;
  setup_steps: string[];
  /** Null: the last setup step says it. */
  see_it: string | null;
  /** Null: the vendor has none. */
  test_mode: TestMode | null;
  default_consent_category: ConsentCategory | null;
  docs: { url: string; api_version: string | null; checked: string | null; notes: string[] };
  /** Null: there is no OAuth connect flow. */
  connect: { provider: string; scopes: string[] } | null;
  config_fields: CatalogField[];
  variants: Omit<Variant, 'default_config'>[];
}
/** The full catalog vendor of the management API. */
export interface CatalogEntry extends CatalogListEntry {
  variants: Variant[];
}

export function catalogEntry(vendor: VendorDefinition): CatalogEntry {
  const { key, name, description, category, group, status, website, setup_steps, config_fields, variants, connect } = vendor;
  const { api_version, notes = [], default_consent_category = null, see_it = null, test_mode = null } = vendor;
  return {
    key,
    name,
    description,
    category,
    group,
    status,
    website,
    setup_steps,
    see_it,
    test_mode,
    default_consent_category,
    docs: { url: website, api_version: api_version?.version ?? null, checked: api_version?.checked ?? null, notes },
    connect: connect ? { provider: connect.provider, scopes: connect.scopes } : null,
    config_fields: config_fields.map(catalogField),
    variants,
  };
}

export function catalogListEntry(vendor: VendorDefinition): CatalogListEntry {
  const entry = catalogEntry(vendor);
  return { ...entry, variants: entry.variants.map(({ key, name, description }) => ({ key, name, description })) };
}

function catalogField(field: ConfigField): CatalogField {
  const { type, columns = [], max_rows = MAX_ROWS } = field;
  return { ...catalogColumn(field), ...(hasRows(type) ? { rows: type, columns: columns.map(catalogColumn), max_rows } : {}) };
}
function hasRows(type: FieldType): type is RowType {
  return type === 'list' || type === 'table';
}
function catalogColumn(field: ConfigField): CatalogColumn {
  const { key, label, type, required, placeholder, help_text, options, multiline } = field;
  return {
    key,
    label,
    type: hasRows(type) ? 'string' : type,
    required,
    placeholder,
    help_text,
    ...(multiline && { multiline }),
    ...(options ? { options } : {}),
    ...(field.default === undefined ? {} : { default: field.default }),
  };
}

/** Searches name and description case-insensitively, and filters by exact values. Loads no definition. */
export async function searchVendors(query: { search?: string; category?: string; status?: string }): Promise<CatalogListEntry[]> {
  const wanted = query.search?.toLowerCase() ?? '';
  const { default: entries } = await import('./vendors/generated/index.json', { with: { type: 'json' } });
  return (entries as CatalogListEntry[]).filter(
    (vendor) =>
      (wanted === '' || vendor.name.toLowerCase().includes(wanted) || vendor.description.toLowerCase().includes(wanted)) &&
      (query.category === undefined || vendor.category === query.category) &&
      (query.status === undefined || vendor.status === query.status),
  );
}
