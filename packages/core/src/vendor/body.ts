/** Body kinds: a payload as text, and several of them in one request. */
import { sha256Hex } from '../hash/hash.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { Steps } from '../steps.ts';
import { stringifyInSteps } from '../stringify-in-steps.ts';
import { compileCsv } from './csv.ts';
import type { BodyDefinition } from './definition.ts';
import type { Sources } from './text.ts';
import { compileText, isItemOnly, renderText, type Text, toText } from './text.ts';
import { compileValue } from './value.ts';
import { xmlAttribute, xmlContent, xmlElement } from './xml.ts';

export interface CompiledBody {
  content_type: string | undefined;
  /** One item as it appears inside a request. */
  encode(payload: unknown): string;
  /** The same, divided. Absent where `encode` does not write JSON. */
  encodeInSteps?: (payload: unknown) => Steps<string>;
  /**
   * The whole body. `parts` are results of `encode`; `batched` distinguishes a list of one from a single event; `head` is the result of
   * `head`, where the body has one.
   */
  assemble(parts: string[], batched: boolean, sources: Sources, head?: string): string | undefined;
  /** The part before the items, rendered per item. Items with different heads never share a request. */
  head?: (sources: Sources) => string;
  /** Builds the content type from the finished body (multipart: the boundary). */
  typed?: (text: string, sources: Sources) => { text: string; content_type: string };
  /** A single payload is the whole body, as JSON. */
  json?: boolean;
  /** The payload is sent in the query string. */
  in_query?: boolean;
  /** References that remain, except those of `head`. */
  texts: Text[];
}

type Parameters = Record<string, unknown>;

export function compileBody(definition: BodyDefinition, parameters: Parameters): CompiledBody {
  switch (definition.kind) {
    case 'json':
      return {
        content_type: 'application/json',
        json: true,
        ...JSON_ITEMS,
        assemble: (parts, batched) => (batched ? `[${parts.join(',')}]` : (parts[0] ?? 'null')),
        texts: [],
      };
    case 'json_list':
      return listBody(definition, parameters);
    case 'ndjson':
      return { content_type: 'application/x-ndjson', ...JSON_ITEMS, assemble: (parts) => `${parts.join('\n')}\n`, texts: [] };
    case 'csv': {
      const { head, encode } = compileCsv(definition);
      return { content_type: 'text/csv', encode, assemble: (parts) => `${head}${parts.join('\r\n')}\r\n`, texts: [] };
    }
    case 'form':
      return { content_type: FORM, encode: fieldsOf(definition.numbered), assemble: (parts) => parts[0], texts: [] };
    case 'form_list':
      return formListBody(definition, parameters);
    case 'xml':
      return xmlBody(definition, parameters);
    case 'multipart':
      return multipartBody(definition, parameters);
    case 'query':
      return { content_type: undefined, encode: fieldsOf(definition.numbered), assemble: () => undefined, in_query: true, texts: [] };
    case 'none':
      return { content_type: undefined, encode: () => '', assemble: () => undefined, texts: [] };
  }
}

const FORM = 'application/x-www-form-urlencoded';

const JSON_ITEMS: Pick<CompiledBody, 'encode' | 'encodeInSteps'> = {
  encode: (value) => JSON.stringify(value) ?? 'null',
  *encodeInSteps(value) {
    return (yield* stringifyInSteps(value)) ?? 'null';
  },
};

function listBody({ under, common = {} }: Extract<BodyDefinition, { kind: 'json_list' }>, parameters: Parameters): CompiledBody {
  const base = { content_type: 'application/json', ...JSON_ITEMS };
  if (under === undefined) return { ...base, assemble: (parts) => `[${parts.join(',')}]`, texts: [] };
  const { head, texts } = compileHead(common, under, parameters);
  const end = `]${'}'.repeat(under.split('.').length)}`;
  const close = (start: string, parts: string[]) => `${start}[${parts.join(',')}${end}`;
  if (texts.every((text) => text.constant !== undefined)) {
    const fixed = head({});
    return { ...base, assemble: (parts) => close(fixed, parts), texts: [] };
  }
  if (texts.every(isItemOnly))
    return { ...base, head, assemble: (parts, _batched, _sources, start = '') => close(start, parts), texts: [] };
  return { ...base, assemble: (parts, _batched, sources) => close(head(sources), parts), texts };
}

/** `{"a":1,"data":`, the body up to its list. Under `data.events` the common fields stand beside the list: `{"data":{"a":1,"events":`. */
function compileHead(common: JsonObject, under: string, parameters: Parameters): { head: (sources: Sources) => string; texts: Text[] } {
  const names = under.split('.').map((name) => JSON.stringify(name));
  const start = `{${names
    .slice(0, -1)
    .map((name) => `${name}:{`)
    .join('')}`;
  const end = `${names.at(-1)}:`;
  if (Object.hasOwn(common, '$ref') || Object.hasOwn(common, '$if')) {
    const { render, texts } = compileValue(common, parameters);
    const entries = (sources: Sources) =>
      Object.entries(render(sources) ?? {}).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`);
    return { head: (sources) => `${start}${entries(sources).join('')}${end}`, texts };
  }
  const fields = Object.entries(common).map(([key, value]) => ({ name: `${JSON.stringify(key)}:`, ...compileValue(value, parameters) }));
  const write = ({ name, render }: (typeof fields)[number], sources: Sources) => {
    const value = render(sources);
    return value === undefined ? '' : `${name}${JSON.stringify(value)},`;
  };
  // Fields that depend on nothing are written once.
  const parts = fields.map((field) => (field.texts.every(({ constant }) => constant !== undefined) ? write(field, {}) : field));
  const head = (sources: Sources) => {
    let out = start;
    for (const part of parts) out += typeof part === 'string' ? part : write(part, sources);
    return out + end;
  };
  return { head, texts: fields.flatMap(({ texts }) => texts) };
}

function compileTexts(texts: Record<string, string> | undefined, parameters: Parameters): [string, Text][] {
  return Object.entries(texts ?? {}).map(([name, text]): [string, Text] => [name, compileText(text, parameters)]);
}

function rendered(texts: readonly [string, Text][], sources: Sources): [string, string][] {
  return texts.map(([name, text]): [string, string] => [name, renderText(text, sources)]).filter(([, value]) => value !== '');
}

function formListBody({ field, common }: Extract<BodyDefinition, { kind: 'form_list' }>, parameters: Parameters): CompiledBody {
  const fields = compileTexts(common, parameters);
  return {
    content_type: FORM,
    ...JSON_ITEMS,
    assemble: (parts, _batched, sources) =>
      new URLSearchParams([...rendered(fields, sources), [field, `[${parts.join(',')}]`.toWellFormed()]]).toString(),
    texts: fields.map(([, text]) => text),
  };
}

function xmlBody({ root, item, attributes }: Extract<BodyDefinition, { kind: 'xml' }>, parameters: Parameters): CompiledBody {
  const texts = compileTexts(attributes, parameters);
  const open = (sources: Sources) => `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${rootAttributes(rendered(texts, sources))}>`;
  return {
    content_type: 'application/xml',
    encode: item === undefined ? xmlContent : (payload) => xmlElement(item, payload),
    assemble: (parts, _batched, sources) => `${open(sources)}${parts.join('')}</${root}>`,
    texts: texts.map(([, text]) => text),
  };
}

function rootAttributes(attributes: readonly [string, string][]): string {
  return attributes.map(([name, value]) => xmlAttribute(name, value)).join('');
}

function multipartBody({ file, fields }: Extract<BodyDefinition, { kind: 'multipart' }>, parameters: Parameters): CompiledBody {
  const inner = compileBody(file.content, parameters);
  const texts = compileTexts(fields, parameters);
  const { head } = inner;
  return {
    ...inner,
    content_type: undefined,
    ...(head ? { head } : {}),
    texts: [...inner.texts, ...texts.map(([, text]) => text)],
    typed(content, sources) {
      const form = rendered(texts, sources);
      // The boundary must not occur in the content, which comes from visitors. A hash of the content cannot be predicted into it.
      const boundary = `firsthand-${sha256Hex(JSON.stringify([form, content])).slice(0, 40)}`;
      const disposition = `form-data; name="${escapeName(file.name)}"; filename="${escapeName(file.filename)}"`;
      const parts = form.map(
        ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"\r\n\r\n${value}\r\n`,
      );
      const text = `${parts.join('')}--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${file.content_type}\r\n\r\n${content}\r\n--${boundary}--\r\n`;
      return { text, content_type: `multipart/form-data; boundary=${boundary}` };
    },
  };
}

function escapeName(name: string): string {
  return name.replace(/["\r\n]/g, (char) => encodeURIComponent(char));
}

function fieldsOf(numbered: string | undefined): (payload: unknown) => string {
  if (numbered === undefined) return formEncode;
  return (payload) => {
    const list = isObject(payload) ? payload[numbered] : undefined;
    if (!isObject(payload) || !Array.isArray(list)) return formEncode(payload);
    const { [numbered]: _list, ...fields } = payload;
    list.forEach((element, index) => {
      if (isObject(element)) for (const [name, value] of Object.entries(element)) fields[`${name}${index + 1}`] = value;
    });
    return formEncode(fields);
  };
}

function formEncode(payload: unknown): string {
  const query = new URLSearchParams();
  if (isObject(payload)) {
    for (const [key, value] of Object.entries(payload)) {
      if (value !== undefined && value !== null) query.append(key, toText(value));
    }
  }
  return query.toString();
}
