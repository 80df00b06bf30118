/** Checks of authored requests that shapes cannot express: parts that need each other, items, and broken references. */
import { isObject, own } from '../json.ts';
import { hasPlaceholder } from '../mapping/parameters/placeholder.ts';
import { compilePath } from '../path/path.ts';
import type { ConfigFault } from './compiled.ts';
import type { AnswerRule, RequestDefinition } from './definition.ts';
import { toText } from './text.ts';

const SOURCES: Readonly<Record<string, readonly string[] | undefined>> = {
  parameters: undefined,
  event: undefined,
  payload: undefined,
  lane: undefined,
  item: ['id'],
  request: ['id', 'attempt', 'timestamp'],
  body: ['sha256'],
  date: ['year', 'month', 'day', 'hour'],
};
const REFERENCE = /\{\{((?:(?!\{\{|\}\}).)*)\}\}/gs;
const KNOWN = /^\s*([a-z]+)\.([^{}\s|]+)\s*(?:\|\s*path\s*)?$/;

export function requestFaults(
  request: RequestDefinition,
  at: { where: string; url_at: string },
  parameters: Record<string, unknown>,
): ConfigFault[] {
  const { body, headers, query, answers = [] } = request;
  const faults: ConfigFault[] = [];
  if (body.kind === 'json_list' && body.common !== undefined && body.under === undefined)
    faults.push({ field: `${at.where}.body.under`, message: 'is required: without it the body is a list, and common has no place' });
  if (!isItems(request.items)) faults.push({ field: `${at.where}.items`, message: 'must be a path or a list of paths' });
  if (body.kind === 'csv') faults.push(...csvFaults(body.columns, `${at.where}.body`));
  if (body.kind === 'multipart' && body.file.content.kind === 'csv')
    faults.push(...csvFaults(body.file.content.columns, `${at.where}.body.file.content`));
  for (const [index, rule] of answers.entries()) faults.push(...partialFaults(rule, `${at.where}.answers[${index}]`));
  faults.push(...referenceFaults(request.url, at.url_at, parameters));
  for (const [name, text] of Object.entries(headers ?? {})) faults.push(...referenceFaults(text, `${at.where}.headers.${name}`));
  for (const [name, text] of Object.entries(query ?? {})) faults.push(...referenceFaults(text, `${at.where}.query.${name}`));
  return faults;
}

function isItems(items: unknown): boolean {
  if (items === undefined || typeof items === 'string') return true;
  return Array.isArray(items) && items.length > 0 && items.every((path) => typeof path === 'string');
}

function csvFaults(columns: Record<string, string>, where: string): ConfigFault[] {
  return Object.entries(columns).flatMap(([name, path]) => {
    const compiled = compilePath(path);
    return compiled.ok ? [] : [{ field: `${where}.columns.${name}`, message: compiled.message }];
  });
}

/** Without a way to identify the items the rule would never match. */
function partialFaults({ verdict, partial }: AnswerRule, where: string): ConfigFault[] {
  const field = `${where}.partial`;
  if (verdict !== 'partial') return partial === undefined ? [] : [{ field, message: 'belongs to the verdict partial' }];
  if (partial === undefined) return [{ field, message: 'is required for the verdict partial' }];
  const tells =
    (partial.errors && (partial.index || partial.key)) ||
    (partial.keys ?? []).length > 0 ||
    (partial.results && partial.accepted) ||
    (partial.indexes ?? []).length > 0;
  return tells ? [] : [{ field, message: 'needs errors and index or key, results and accepted, indexes, or keys' }];
}

/** With `parameters`, a parameter without a value is a fault too. Elsewhere an empty text is left out. */
function referenceFaults(text: string, field: string, parameters?: Record<string, unknown>): ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const [whole, inner = ''] of text.matchAll(REFERENCE)) {
    if (hasPlaceholder(whole)) continue;
    const [, source = '', path = ''] = KNOWN.exec(inner) ?? [];
    const names = Object.hasOwn(SOURCES, source) ? (SOURCES[source] ?? [path]) : [];
    if (!names.includes(path)) faults.push({ field, message: `${whole.slice(0, 60)} is not a known reference: ${EXPECTED}` });
    else if (source === 'parameters' && isObject(parameters) && toText(own(parameters, path)) === '')
      faults.push({ field, message: `${whole.slice(0, 60)} refers to a parameter that has no value` });
  }
  return faults;
}
const EXPECTED =
  'use parameters, event, payload or lane with a name, item.id, request.id, attempt or timestamp, body.sha256, date.year to hour';
