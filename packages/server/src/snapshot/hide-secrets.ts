import { isObject, type Json } from '@firsthand/core/json.ts';
import type { Snapshot } from './types.ts';

/**
 * Masks a pipeline's secret parameters in data that is shown: a transformation may have copied them into an event. The real event keeps
 * them, because a vendor may need them.
 */
export function hideSecrets<T>(snapshot: Snapshot, pipelineId: string | undefined, value: T): T {
  const scrub = pipelineId === undefined ? undefined : snapshot.pipelines.get(pipelineId)?.scrub;
  if (scrub === undefined) return value;
  const text = JSON.stringify(value);
  // Strings are masked one by one: a secret may contain characters of JSON syntax.
  return text === undefined || scrub(text) === text ? value : (scrubAll(JSON.parse(text) as Json, scrub) as T);
}

function scrubAll(value: Json, scrub: (text: string) => string): Json {
  if (typeof value === 'string') return scrub(value);
  if (Array.isArray(value)) return value.map((item) => scrubAll(item, scrub));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [scrub(key), scrubAll(item as Json, scrub)]));
}
