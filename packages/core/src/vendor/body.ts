/** Body kinds: what a payload looks like as text, and how several stand in one request. */
import type { JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import type { BodyDefinition } from './definition.ts';
import type { Sources } from './text.ts';
import { compileText, renderText, type Text, toText } from './text.ts';

export interface CompiledBody {
  content_type: string | undefined;
  /** One payload as it stands inside a request. */
  encode(payload: unknown): string;
  /** The whole body. `parts` are what `encode` gave; `batched` tells a list of one from a single event. */
  assemble(parts: string[], batched: boolean, sources: Sources): string | undefined;
  /** One payload alone is the body, as JSON. */
  json?: boolean;
  /** Payload goes into the query string. */
  in_query?: boolean;
  /** Texts that keep items apart (they refer to the item). */
  texts: Text[];
}

export function compileBody(definition: BodyDefinition, parameters: Record<string, unknown>): CompiledBody {
  switch (definition.kind) {
    case 'json':
      return {
        content_type: 'application/json',
        json: true,
        encode: stringify,
        assemble: (parts, batched) => (batched ? `[${parts.join(',')}]` : (parts[0] as string)),
        texts: [],
      };
    case 'json_list':
      return listBody(definition.under, definition.common ?? {}, parameters);
    case 'ndjson':
      return { content_type: 'application/x-ndjson', encode: stringify, assemble: (parts) => `${parts.join('\n')}\n`, texts: [] };
    case 'form':
      return { content_type: 'application/x-www-form-urlencoded', encode: formEncode, assemble: (parts) => parts[0], texts: [] };
    case 'query':
      return { content_type: undefined, encode: formEncode, assemble: () => undefined, in_query: true, texts: [] };
    case 'none':
      return { content_type: undefined, encode: () => '', assemble: () => undefined, texts: [] };
  }
}

function stringify(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

function listBody(under: string | undefined, common: JsonObject, parameters: Record<string, unknown>): CompiledBody {
  const texts: Text[] = [];
  const template = compileValue(common, parameters, texts);
  const fixed = texts.every((text) => text.constant !== undefined) ? headOf(template({}), under) : undefined;
  return {
    content_type: 'application/json',
    encode: stringify,
    assemble: (parts, _batched, sources) => {
      if (under === undefined) return `[${parts.join(',')}]`;
      return `${fixed ?? headOf(template(sources), under)}[${parts.join(',')}]}`;
    },
    texts,
  };
}

/** `{"a":1,"data":` – the body up to its list. */
function headOf(common: unknown, under: string | undefined): string {
  const entries = isObject(common) ? Object.entries(common) : [];
  return `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`).join('')}${JSON.stringify(under)}:`;
}

/**
 * A JSON value whose texts may hold references. Empty texts disappear, and objects and lists that are left empty by it; so does an
 * object whose `$if` is an empty text.
 */
function compileValue(value: unknown, parameters: Record<string, unknown>, texts: Text[]): (sources: Sources) => unknown {
  if (typeof value === 'string') {
    const text = compileText(value, parameters);
    texts.push(text);
    return (sources) => {
      const rendered = renderText(text, sources);
      return rendered === '' ? undefined : rendered;
    };
  }
  if (Array.isArray(value)) {
    const elements = value.map((element) => compileValue(element, parameters, texts));
    return (sources) => {
      const list = elements.map((element) => element(sources)).filter((element) => element !== undefined);
      return list.length === 0 ? undefined : list;
    };
  }
  if (isObject(value)) {
    const { $if: condition, ...rest } = value;
    const entries = Object.entries(rest).map(([key, inner]) => [key, compileValue(inner, parameters, texts)] as const);
    const wanted = condition === undefined ? undefined : compileValue(condition, parameters, texts);
    return (sources) => {
      if (wanted && wanted(sources) === undefined) return undefined;
      const filled = entries.map(([key, inner]) => [key, inner(sources)] as const).filter(([, inner]) => inner !== undefined);
      return filled.length === 0 ? undefined : Object.fromEntries(filled);
    };
  }
  return () => value;
}

export function formEncode(payload: unknown): string {
  const query = new URLSearchParams();
  if (isObject(payload)) {
    for (const [key, value] of Object.entries(payload)) {
      if (value !== undefined && value !== null) query.append(key, toText(value));
    }
  }
  return query.toString();
}
