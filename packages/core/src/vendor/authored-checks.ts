/** What the shapes of authored requests cannot say: parts that need one another, and references that lead nowhere. */
import { isObject, own } from '../json.ts';
import { hasPlaceholder } from '../mapping/parameters/placeholder.ts';
import type { ConfigFault } from './compiled.ts';
import type { AnswerRule, RequestDefinition } from './definition.ts';
import { toText } from './text.ts';

const SOURCES: Readonly<Record<string, readonly string[] | undefined>> = {
  parameters: undefined,
  event: undefined,
  payload: undefined,
  lane: undefined,
  request: ['id', 'attempt', 'timestamp'],
  body: ['sha256'],
  date: ['year', 'month', 'day', 'hour'],
};
const REFERENCE = /\{\{(.*?)\}\}/gs;
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
  for (const [index, rule] of answers.entries()) faults.push(...partialFaults(rule, `${at.where}.answers[${index}]`));
  faults.push(...referenceFaults(request.url, at.url_at, parameters));
  for (const [name, text] of Object.entries(headers ?? {})) faults.push(...referenceFaults(text, `${at.where}.headers.${name}`));
  for (const [name, text] of Object.entries(query ?? {})) faults.push(...referenceFaults(text, `${at.where}.query.${name}`));
  return faults;
}

/** Without a way to tell the items apart the rule would never fit, and the next one decide. */
function partialFaults({ verdict, partial }: AnswerRule, where: string): ConfigFault[] {
  const field = `${where}.partial`;
  if (verdict !== 'partial') return partial === undefined ? [] : [{ field, message: 'belongs to the verdict partial' }];
  if (partial === undefined) return [{ field, message: 'is required for the verdict partial' }];
  const tells = (partial.errors && partial.index) || (partial.results && partial.accepted) || (partial.indexes ?? []).length > 0;
  return tells ? [] : [{ field, message: 'needs errors and index, results and accepted, or indexes' }];
}

/** With `parameters`, one that has no value is a fault too: elsewhere an empty text is left out. */
function referenceFaults(text: string, field: string, parameters?: Record<string, unknown>): ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const [whole, inner = ''] of text.matchAll(REFERENCE)) {
    if (hasPlaceholder(whole)) continue;
    const [, source = '', path = ''] = KNOWN.exec(inner) ?? [];
    const names = Object.hasOwn(SOURCES, source) ? (SOURCES[source] ?? [path]) : [];
    if (!names.includes(path)) faults.push({ field, message: `${whole.slice(0, 60)} refers to nothing: ${EXPECTED}` });
    else if (source === 'parameters' && isObject(parameters) && toText(own(parameters, path)) === '')
      faults.push({ field, message: `${whole.slice(0, 60)} refers to a parameter that has no value` });
  }
  return faults;
}
const EXPECTED =
  'known are parameters, event, payload and lane with a name, request.id, attempt and timestamp, body.sha256, date.year to hour';
