/** The integration catalog: built into the service, always there, no stored data. */
import {
  CATEGORIES,
  type Category,
  type ConfigField,
  type ConsentCategory,
  type Group,
  type Variant,
  type VendorDefinition,
} from '@firsthand/core/vendor/definition.ts';
import { VENDORS } from './vendors/index.ts';

export { CATEGORIES, VENDORS };

const byKey: ReadonlyMap<string, VendorDefinition> = new Map(VENDORS.map((vendor) => [vendor.key, vendor]));

export function findVendor(key: string): VendorDefinition | undefined {
  return byKey.get(key);
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
  config_fields: CatalogField[];
  variants: Variant[];
}

export function catalogEntry(vendor: VendorDefinition): CatalogEntry {
  const { key, name, description, category, group, status, website, setup_steps, config_fields, variants } = vendor;
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

/** Search over name and description, case-insensitive, and the two exact filters. */
export function searchVendors(query: { search?: string; category?: string; status?: string }): VendorDefinition[] {
  const wanted = query.search?.toLowerCase() ?? '';
  return VENDORS.filter(
    (vendor) =>
      (wanted === '' || vendor.name.toLowerCase().includes(wanted) || vendor.description.toLowerCase().includes(wanted)) &&
      (query.category === undefined || vendor.category === query.category) &&
      (query.status === undefined || vendor.status === query.status),
  );
}
