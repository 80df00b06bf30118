import type { Json, JsonObject } from '../../json.ts';
import { put } from '../../json.ts';
import { PLACEHOLDER } from './placeholder.ts';

/**
 * Returns a copy of a configuration with every `{{pipeline_param.KEY}}` in texts replaced; field names are not changed. A missing
 * parameter keeps its placeholder and is reported once. Substituted values are not searched for further placeholders.
 */
export function substitute<T extends JsonObject>(
  config: T,
  parameters: Readonly<Record<string, string>>,
): { config: T; missing: string[] } {
  const missing = new Set<string>();
  const replaceIn = (value: Json): Json => {
    if (typeof value === 'string') return value.includes('pipeline_param.') ? replaceText(value, parameters, missing) : value;
    if (Array.isArray(value)) return value.map(replaceIn);
    if (typeof value !== 'object' || value === null) return value;
    const copy: JsonObject = {};
    for (const key of Object.keys(value)) if (value[key] !== undefined) put(copy, key, replaceIn(value[key]));
    return copy;
  };
  return { config: replaceIn(config) as T, missing: [...missing] };
}

function replaceText(text: string, parameters: Readonly<Record<string, string>>, missing: Set<string>): string {
  return text.replace(PLACEHOLDER, (placeholder, key: string) => {
    const value: unknown = Object.hasOwn(parameters, key) ? parameters[key] : undefined;
    if (typeof value === 'string') return value;
    missing.add(key);
    return placeholder;
  });
}
