/** Checks a definition when it is loaded: a vendor that does not fit is a bug, and stops the start with a message that names it. */
import type { RequestDefinition, VendorDefinition } from './definition.ts';
import { CATEGORIES, FIELD_TYPES } from './definition.ts';
import { readFields } from './fields.ts';
import { ENDPOINT_FIELD } from './settings.ts';

/** As a vendor's file writes it: one `request` may stand for a list of one; `endpoint` is added to the fields by itself. */
export type VendorInput = Omit<VendorDefinition, 'requests'> & ({ request: RequestDefinition } | { requests: RequestDefinition[] });

export function defineVendor(input: VendorInput): VendorDefinition {
  const { request, requests, ...rest } = input as Omit<VendorDefinition, 'requests'> & {
    request?: RequestDefinition;
    requests?: RequestDefinition[];
  };
  const own = rest.config_fields.some(({ key }) => key === ENDPOINT_FIELD.key);
  const definition: VendorDefinition = {
    ...rest,
    requests: requests ?? (request ? [request] : []),
    config_fields: own ? rest.config_fields : [...rest.config_fields, ENDPOINT_FIELD],
  };
  const faults = definitionFaults(definition);
  if (faults.length > 0) throw new Error(`vendor ${definition.key}: ${faults.join('; ')}`);
  return definition;
}

export function definitionFaults(definition: VendorDefinition): string[] {
  const faults: string[] = [];
  const need = (fine: boolean, message: string) => {
    if (!fine) faults.push(message);
  };
  need(/^[a-z][a-z0-9_]*$/.test(definition.key), 'key must be snake_case');
  need(CATEGORIES.includes(definition.category), `category ${definition.category} is unknown`);
  need(definition.status === 'ga' || definition.status === 'beta', 'status must be ga or beta');
  need(/^https:\/\//.test(definition.website), 'website must be an https link');
  need(definition.name !== '' && definition.description !== '', 'name and description must be given');
  need(definition.requests.length > 0 || definition.authored_requests === true, 'at least one request is needed');
  need(definition.variants[0]?.key === 'default', 'the first variant must be default');
  need(new Set(definition.variants.map(({ key }) => key)).size === definition.variants.length, 'variant keys must differ');
  need(isJson(definition), 'the definition must survive a JSON round trip');
  need(new Set(definition.config_fields.map(({ key }) => key)).size === definition.config_fields.length, 'field keys must differ');
  for (const field of definition.config_fields) faults.push(...fieldFaults(field));
  return faults;
}

function fieldFaults(field: VendorDefinition['config_fields'][number]): string[] {
  const faults: string[] = [];
  if (!FIELD_TYPES.includes(field.type)) faults.push(`field ${field.key}: type ${field.type} is unknown`);
  if (field.type === 'select' && !(field.options && field.options.length > 0)) faults.push(`field ${field.key}: a select needs options`);
  const rules = { mode: 'production', allow_private: false, placeholders: false } as const;
  const read = readFields([{ ...field, required: true }], { [field.key]: field.placeholder }, rules);
  for (const fault of [...read.missing, ...read.invalid]) faults.push(`field ${field.key}: its placeholder ${fault.message}`);
  if (field.default !== undefined) {
    const read = readFields([field], { [field.key]: field.default }, rules);
    for (const fault of read.invalid) faults.push(`field ${field.key}: its default ${fault.message}`);
  }
  return faults;
}

function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== 'object') return false;
  // An optional key that is written out as undefined is left out by JSON, which changes nothing.
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every((inner) => inner === undefined || isJson(inner));
}
