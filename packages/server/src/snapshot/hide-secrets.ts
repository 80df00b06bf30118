import { scrubJson, scrubJsonText } from '@firsthand/core/vendor/secrets.ts';
import type { Snapshot } from './types.ts';

/**
 * Masks a pipeline's secret parameters in data that is shown: a transformation may have copied them into an event. The real event keeps
 * them, because a vendor may need them.
 */
export function hideSecrets<T>(snapshot: Snapshot, pipelineId: string | undefined, value: T): T {
  const scrub = pipelineId === undefined ? undefined : snapshot.pipelines.get(pipelineId)?.scrub;
  return scrub === undefined ? value : scrubJson(value, scrub);
}
/** The same in JSON. */
export function hideSecretsInJson(snapshot: Snapshot, pipelineId: string, json: Buffer): Buffer {
  const scrub = snapshot.pipelines.get(pipelineId)?.scrub;
  return scrub === undefined ? json : Buffer.from(scrubJsonText(json.toString(), scrub));
}
