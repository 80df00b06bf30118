/** Config fields: read from the top level of a config or from `parameters` (which wins), coerced to their type, checked. */
import { isObject, own } from '../json.ts';
import { hasPlaceholder } from '../mapping/parameters/placeholder.ts';
import type { ConfigFault } from './compiled.ts';
import type { ConfigField } from './definition.ts';
import { headerNameFault, readHeaders } from './header-rules.ts';
import type { UrlRules } from './url-rules.ts';
import { urlFault } from './url-rules.ts';

export interface FieldRules extends UrlRules {
  /** At save time a placeholder may stand for any value. */
  placeholders: boolean;
}
export interface FieldValues {
  /** Defaults filled in. */
  values: Record<string, unknown>;
  /** Keys the config itself gave. */
  given: Set<string>;
  missing: ConfigFault[];
  invalid: ConfigFault[];
}

export function readFields(fields: readonly ConfigField[], config: Record<string, unknown>, rules: FieldRules): FieldValues {
  const parameters = own(config, 'parameters');
  const inner = isObject(parameters) ? parameters : {};
  const result: FieldValues = { values: {}, given: new Set(), missing: [], invalid: [] };
  for (const field of fields) {
    const inside = Object.hasOwn(inner, field.key);
    const where = inside ? `parameters.${field.key}` : field.key;
    const raw = inside ? inner[field.key] : own(config, field.key);
    if (isAbsent(raw)) {
      if (field.default !== undefined) result.values[field.key] = field.default;
      continue;
    }
    result.given.add(field.key);
    if (rules.placeholders && hasPlaceholder(raw)) {
      // The final value is not known yet. The example value takes its place, so that the rest can be checked.
      result.values[field.key] = readField(field, field.placeholder, where, rules).value;
      continue;
    }
    const read = readField(field, raw, where, rules);
    if (read.faults.length > 0) result.invalid.push(...read.faults);
    else result.values[field.key] = read.value;
  }
  for (const field of fields) {
    if (isRequired(field, result.values) && isAbsent(result.values[field.key]) && !isFaulty(field.key, result.invalid))
      result.missing.push({ field: field.key, message: 'is required' });
  }
  return result;
}

/** Forms send null or an empty string for an empty field. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Of a list or table that names no number of its own. */
export const MAX_ROWS = 200;

/** A list of entries, or of rows with columns. Also accepts the JSON text of one, because pipeline parameters are texts. */
function readRows(field: ConfigField, raw: unknown, where: string, rules: UrlRules): { value?: unknown; faults: ConfigFault[] } {
  const rows = typeof raw === 'string' ? parseList(raw) : raw;
  if (!Array.isArray(rows)) return { faults: [{ field: where, message: 'must be a list' }] };
  const most = field.max_rows ?? MAX_ROWS;
  if (rows.length > most) return { faults: [{ field: where, message: `must have at most ${most} entries` }] };
  const faults: ConfigFault[] = [];
  const columns = field.columns ?? [];
  const value = rows.map((row, index) => {
    const at = `${where}[${index}]`;
    const read = field.type === 'list' ? readEntry(columns[0], row, at, rules) : readRow(columns, row, at, rules);
    faults.push(...read.faults);
    return read.value;
  });
  return faults.length > 0 ? { faults } : { value, faults };
}

function readEntry(column: ConfigField | undefined, raw: unknown, where: string, rules: UrlRules) {
  if (isAbsent(raw)) return { faults: [{ field: where, message: 'must not be empty' }] };
  return column && !hasPlaceholder(raw) ? readField(column, raw, where, rules) : { value: raw, faults: [] };
}

function readRow(
  columns: readonly ConfigField[],
  raw: unknown,
  where: string,
  rules: UrlRules,
): { value?: unknown; faults: ConfigFault[] } {
  if (!isObject(raw)) return { faults: [{ field: where, message: 'must be an object' }] };
  const known = new Set(columns.map(({ key }) => key));
  const faults = Object.keys(raw)
    .filter((key) => !known.has(key))
    .map((key): ConfigFault => ({ field: `${where}.${key}`, message: 'is unknown' }));
  const value: Record<string, unknown> = {};
  for (const column of columns) {
    const at = `${where}.${column.key}`;
    const cell = own(raw, column.key);
    if (isAbsent(cell)) {
      if (column.default !== undefined) value[column.key] = column.default;
      else if (column.required) faults.push({ field: at, message: 'is required' });
      continue;
    }
    const read = readEntry(column, cell, at, rules);
    faults.push(...read.faults);
    if (read.value !== undefined) value[column.key] = read.value;
  }
  return { value, faults };
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // readRows reports that it is not a list
  }
}

function isRequired(field: ConfigField, values: Record<string, unknown>): boolean {
  return field.required || (field.required_when !== undefined && values[field.required_when.field] === field.required_when.equals);
}

function isFaulty(key: string, invalid: ConfigFault[]): boolean {
  return invalid.some(
    ({ field }) => field === key || field === `parameters.${key}` || field.startsWith(`${key}.`) || field.startsWith(`${key}[`),
  );
}

function readField(field: ConfigField, raw: unknown, where: string, rules: UrlRules): { value?: unknown; faults: ConfigFault[] } {
  const bad = (message: string) => ({ faults: [{ field: where, message }] });
  switch (field.type) {
    case 'number': {
      const value = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw;
      if (typeof value !== 'number' || !Number.isFinite(value)) return bad('must be a number');
      if (field.integer && !Number.isInteger(value)) return bad('must be a whole number');
      if (field.min !== undefined && value < field.min) return bad(`must be at least ${field.min}`);
      if (field.max !== undefined && value > field.max) return bad(`must be at most ${field.max}`);
      return { value, faults: [] };
    }
    case 'boolean': {
      if (typeof raw === 'boolean') return { value: raw, faults: [] };
      if (raw === 'true' || raw === 'false') return { value: raw === 'true', faults: [] };
      return bad('must be true or false');
    }
    case 'select': {
      const value = typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : raw;
      if (typeof value !== 'string' || !(field.options ?? []).includes(value))
        return bad(`must be one of ${(field.options ?? []).join(', ')}`);
      return { value, faults: [] };
    }
    case 'list':
    case 'table':
      return readRows(field, raw, where, rules);
    default:
      return readText(field, raw, where, rules);
  }
}

function readText(field: ConfigField, raw: unknown, where: string, rules: UrlRules): { value?: unknown; faults: ConfigFault[] } {
  if (field.format === 'headers') {
    const { headers, faults } = readHeaders(raw, where);
    return { value: headers, faults };
  }
  // Ids are often written as numbers in JSON. A number is the same id.
  const value = typeof raw === 'number' && Number.isFinite(raw) ? String(raw) : raw;
  const bad = (message: string) => ({ faults: [{ field: where, message }] });
  if (typeof value !== 'string') return bad('must be a string');
  if (value.length > 65_536) return bad('must be at most 65536 characters');
  if (field.type === 'secret' && !field.multiline && /[\r\n]/.test(value)) return bad('must not contain line breaks');
  if (field.pattern !== undefined && !new RegExp(field.pattern, 'u').test(value)) {
    return bad(field.pattern_hint ? `must be ${field.pattern_hint}` : `must match ${field.pattern}`);
  }
  const fault = field.format === 'url' ? urlFault(value, rules) : field.format === 'header_name' ? headerNameFault(value) : undefined;
  return fault ? bad(fault) : { value, faults: [] };
}
