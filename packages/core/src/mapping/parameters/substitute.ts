import { measureConfiguration } from '../../config/budget.ts';
import { type Json, type JsonObject, put } from '../../json.ts';
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
 * templates and patterns, so the result is measured like any configuration.
 */
export function substitute<T extends JsonObject>(config: T, parameters: Readonly<Record<string, string>>): Substituted<T> {
  const missing = new Set<string>();
  let putIn = 0;
  const textFor = (placeholder: string, key: string): string => {
    const value: unknown = Object.hasOwn(parameters, key) ? parameters[key] : undefined;
    if (typeof value !== 'string') {
      missing.add(key);
      return placeholder;
    }
    putIn += value.length;
    return putIn > MAX_PUT_IN ? placeholder : value;
  };
  const replaceIn = (value: Json): Json => {
    if (typeof value === 'string') return value.includes('pipeline_param.') ? value.replace(PLACEHOLDER, textFor) : value;
    if (Array.isArray(value)) return value.map(replaceIn);
    if (typeof value !== 'object' || value === null) return value;
    const copy: JsonObject = {};
    for (const key of Object.keys(value)) if (value[key] !== undefined) put(copy, key, replaceIn(value[key]));
    return copy;
  };
  const result = { config: replaceIn(config) as T, missing: [...missing] };
  if (putIn > MAX_PUT_IN)
    return { ...result, excess: `is too large: pipeline parameters may put at most ${MAX_PUT_IN} characters into a configuration` };
  const measured = putIn === 0 ? undefined : measureConfiguration(result.config);
  return measured === undefined || measured.ok ? result : { ...result, excess: `with the pipeline's parameters ${measured.message}` };
}
