import { measureConfiguration } from '../../config/budget.ts';
import { type Json, type JsonObject, put } from '../../json.ts';
import { placeholdersInStrings } from '../../template/template.ts';
import { escapeJson } from '../../template/text.ts';
import { PLACEHOLDER } from './placeholder.ts';

/** Characters that parameters may put into one configuration. 5,000 placeholders of a long value would be gigabytes. */
const MAX_PUT_IN = 65_536;

export interface Substituted<T> {
  config: T;
  missing: string[];
  /** The parameters do not fit: the config must not be used. */
  excess?: string;
}

/**
 * Returns a copy of a configuration with every `{{pipeline_param.KEY}}` in texts replaced; field names are not changed. A missing
 * parameter keeps its placeholder and is reported once. Substituted values are not searched for further placeholders. The values may be
 * templates and patterns, so the result is measured like any configuration. In the fields of `jsonTemplates` a value inside a string of the
 * document is escaped: with a quote or a line break it would end the string.
 */
export function substitute<T extends JsonObject>(
  config: T,
  parameters: Readonly<Record<string, string>>,
  jsonTemplates: readonly string[] = [],
): Substituted<T> {
  const missing = new Set<string>();
  let putIn = 0;
  const textFor = (placeholder: string, key: string, escaped: boolean): string => {
    const stored: unknown = Object.hasOwn(parameters, key) ? parameters[key] : undefined;
    if (typeof stored !== 'string') {
      missing.add(key);
      return placeholder;
    }
    const value = escaped ? escapeJson(stored) : stored;
    putIn += value.length;
    return putIn > MAX_PUT_IN ? placeholder : value;
  };
  const replaceInText = (text: string, jsonTemplate: boolean): string => {
    if (!text.includes('pipeline_param.')) return text;
    const inStrings = jsonTemplate ? placeholdersInStrings(text) : undefined;
    let index = 0;
    return text.replace(PLACEHOLDER, (placeholder, key: string) => textFor(placeholder, key, inStrings?.has(index++) === true));
  };
  const replaceIn = (value: Json, templates: readonly string[]): Json => {
    if (typeof value === 'string') return replaceInText(value, false);
    if (Array.isArray(value)) return value.map((item) => replaceIn(item, []));
    if (typeof value !== 'object' || value === null) return value;
    const copy: JsonObject = {};
    for (const key of Object.keys(value)) {
      const part = value[key];
      if (part === undefined) continue;
      // The category `parameters` is another place for the fields at the top.
      const below = value === config && key === 'parameters' ? templates : [];
      put(copy, key, typeof part === 'string' ? replaceInText(part, templates.includes(key)) : replaceIn(part, below));
    }
    return copy;
  };
  const result = { config: replaceIn(config, jsonTemplates) as T, missing: [...missing] };
  if (putIn > MAX_PUT_IN)
    return { ...result, excess: `is too large: pipeline parameters may put at most ${MAX_PUT_IN} characters into a configuration` };
  const measured = putIn === 0 ? undefined : measureConfiguration(result.config);
  return measured === undefined || measured.ok ? result : { ...result, excess: `with the pipeline's parameters ${measured.message}` };
}
