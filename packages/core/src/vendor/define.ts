/** Checks a definition when it is loaded. A wrong definition is a bug: the error names the vendor and every fault. */
import type { RequestDefinition, VendorDefinition } from './definition.ts';
import { CATEGORIES, FIELD_TYPES, GROUPS } from './definition.ts';
import { readFields } from './fields.ts';
import { ENDPOINT_FIELD } from './settings.ts';

/** As a vendor's file writes it: `request` is short for a list of one, and the field `endpoint` is added. */
export type VendorInput = Omit<VendorDefinition, 'requests' | 'chain' | 'transport'> &
  (
    | { request: RequestDefinition }
    | { requests: RequestDefinition[] }
    | Required<Pick<VendorDefinition, 'chain'>>
    | Required<Pick<VendorDefinition, 'transport'>>
  );

export function defineVendor(input: VendorInput): VendorDefinition {
  const { request, requests, ...rest } = input as Omit<VendorDefinition, 'requests'> & {
    request?: RequestDefinition;
    requests?: RequestDefinition[];
  };
  const own = rest.config_fields.some(({ key }) => key === ENDPOINT_FIELD.key);
  const definition: VendorDefinition = {
    ...rest,
    requests: requests ?? (request ? [request] : []),
    config_fields: own || rest.transport ? rest.config_fields : [...rest.config_fields, ENDPOINT_FIELD],
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
  need(GROUPS.includes(definition.group), `group ${definition.group} is unknown`);
  need(definition.setup_steps.length > 0, 'setup_steps must name at least one step');
  need(definition.status === 'ga' || definition.status === 'beta', 'status must be ga or beta');
  need(/^https:\/\//.test(definition.website), 'website must be an https link');
  need(definition.name !== '' && definition.description !== '', 'name and description must be given');
  const ways = [definition.requests.length > 0, definition.authored_requests, definition.chain, definition.transport].filter(
    Boolean,
  ).length;
  need(ways === 1, 'exactly one of requests, authored_requests, chain and transport is needed');
  need(definition.send !== 'all' || definition.requests.every(({ poll }) => poll === undefined), 'poll does not go with send: all');
  need(definition.variants[0]?.key === 'default', 'the first variant must be default');
  need(new Set(definition.variants.map(({ key }) => key)).size === definition.variants.length, 'variant keys must differ');
  need(isJson(definition), 'the definition must survive a JSON round trip');
  need(new Set(definition.config_fields.map(({ key }) => key)).size === definition.config_fields.length, 'field keys must differ');
  for (const field of definition.config_fields) faults.push(...fieldFaults(field));
  faults.push(...versionFaults(definition), ...tableFaults(definition), ...connectFaults(definition));
  faults.push(...testModeFaults(definition));
  return faults;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

function versionFaults({ api_version: api, config_fields }: VendorDefinition): string[] {
  if (!api) return [];
  const days = [api.checked, ...Object.values(api.ends ?? {})].filter((day) => !DAY.test(day)).map((day) => `${day} must be YYYY-MM-DD`);
  const field = api.field === undefined ? undefined : config_fields.find(({ key }) => key === api.field);
  if (api.field === undefined) return days;
  return field?.default === api.version ? days : [...days, `api_version: the default of ${api.field} must be ${api.version}`];
}

function tableFaults({ event_table: table, config_fields }: VendorDefinition): string[] {
  if (!table) return [];
  const columns = config_fields.find(({ key, type }) => key === table.field && type === 'table')?.columns ?? [];
  const known = columns.map(({ key }) => key);
  return known.includes(table.event) && known.includes(table.vendor_event_name)
    ? []
    : [`event_table: ${table.field} must be a table with the columns ${table.event} and ${table.vendor_event_name}`];
}

function testModeFaults({ test_mode: test, config_fields }: VendorDefinition): string[] {
  if (!test) return [];
  const field = config_fields.find(({ key }) => key === test.field);
  if (!field) return [`test_mode: there is no field ${test.field}`];
  if (test.value === undefined) return field.type === 'string' ? [] : [`test_mode: ${test.field} must be a text, or a value must be given`];
  const rules = { placeholders: false, mode: 'production', allow_private: false } as const;
  return readFields([field], { [test.field]: test.value }, rules).invalid.map(({ message }) => `test_mode: ${test.field} ${message}`);
}

function connectFaults({ connect, config_fields }: VendorDefinition): string[] {
  if (!connect) return [];
  const type = config_fields.find(({ key }) => key === connect.refresh_token_field)?.type;
  const unknown = Object.keys(connect.sets ?? {}).filter((key) => !config_fields.some((field) => field.key === key));
  return [
    ...(type === 'secret' ? [] : [`connect: ${connect.refresh_token_field} must be a secret field`]),
    ...unknown.map((key) => `connect: ${key} is no field`),
    ...(connect.scopes.length === 0 ? ['connect: scopes must name at least one scope'] : []),
  ];
}

function fieldFaults(field: VendorDefinition['config_fields'][number]): string[] {
  const faults: string[] = [];
  if (!FIELD_TYPES.includes(field.type)) faults.push(`field ${field.key}: type ${field.type} is unknown`);
  if (field.type === 'select' && !(field.options && field.options.length > 0)) faults.push(`field ${field.key}: a select needs options`);
  const columns = field.columns?.length ?? 0;
  if (field.type === 'list' && columns !== 1) faults.push(`field ${field.key}: a list needs exactly one column`);
  if (field.type === 'table' && columns === 0) faults.push(`field ${field.key}: a table needs columns`);
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
  // JSON leaves out an optional key with the value undefined, which changes nothing.
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every((inner) => inner === undefined || isJson(inner));
}
