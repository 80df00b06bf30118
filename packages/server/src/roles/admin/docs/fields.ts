import { escapeHtml, prose } from './html.ts';

/** The part of JSON Schema that our schemas use. */
export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  format?: string;
  examples?: unknown[];
  $ref?: string;
  'x-fault'?: string;
}

const MAX_DEPTH = 6;

/** A table of an object's fields, those of nested objects indented below them. */
export function fieldTable(schema: Schema): string {
  const rows = rowsOf(schema, '', 0);
  return rows === '' ? `<p class="quiet">${escapeHtml(typeOf(schema))}</p>` : `<table class="fields"><tbody>${rows}</tbody></table>`;
}

function rowsOf(schema: Schema, prefix: string, depth: number): string {
  if (depth > MAX_DEPTH) return '';
  const inner = schema.items ?? schema;
  const named = Object.entries(inner.properties ?? {}).map(([name, field]) =>
    row(`${prefix}${name}`, field, inner.required?.includes(name) === true, depth),
  );
  const free = freeValues(inner);
  if (free !== undefined && (free.properties !== undefined || free.items !== undefined))
    named.push(row(`${prefix}<name>`, free, false, depth));
  return named.join('');
}

function row(name: string, field: Schema, required: boolean, depth: number): string {
  const marks = [required ? '<em>required</em>' : '', ...limits(field)].filter((mark) => mark !== '').join(' · ');
  const nested = rowsOf(field, `${name}${field.type === 'array' ? '[]' : ''}.`, depth + 1);
  return `<tr><td><code>${escapeHtml(name)}</code></td><td><span class="type">${escapeHtml(typeOf(field))}</span>${marks === '' ? '' : ` <small>${marks}</small>`}${
    field.description === undefined ? '' : prose(field.description)
  }</td></tr>${nested}`;
}

function limits(field: Schema): string[] {
  const words: string[] = [];
  if (field.default !== undefined) words.push(`default <code>${escapeHtml(JSON.stringify(field.default))}</code>`);
  if (field['x-fault'] !== undefined) words.push(escapeHtml(field['x-fault']));
  else if (field.minimum !== undefined && field.maximum !== undefined) words.push(`${field.minimum} to ${field.maximum}`);
  return words;
}

function freeValues(schema: Schema): Schema | undefined {
  if (typeof schema.additionalProperties === 'object') return schema.additionalProperties;
  return Object.values(schema.patternProperties ?? {})[0];
}

export function typeOf(schema: Schema): string {
  if (schema.enum !== undefined)
    return schema.enum.map((member) => (typeof member === 'string' ? member : JSON.stringify(member))).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map(typeOf).join(' or ');
  const types = [schema.type ?? 'any'].flat();
  return types
    .map((type) => (type === 'array' ? `list of ${typeOf(schema.items ?? {})}` : type === 'object' ? objectWords(schema) : type))
    .join(' or ');
}
function objectWords(schema: Schema): string {
  const free = freeValues(schema);
  return schema.properties === undefined && free !== undefined ? `object of ${typeOf(free)}` : 'object';
}
