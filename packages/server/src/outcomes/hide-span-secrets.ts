import { hideSecrets } from '../snapshot/hide-secrets.ts';
import type { Snapshot } from '../snapshot/types.ts';
import type { EncodedSpan } from '../telemetry/otlp.ts';

const PIPELINE = /"firsthand\.pipeline_id","value":\{"stringValue":"([^"]+)"/;

/** Masks secret parameters in spans: a vendor may repeat one in its error. Spans of pipelines without them are not parsed. */
export function hideSpanSecrets(snapshot: Snapshot, span: EncodedSpan): EncodedSpan {
  const id = PIPELINE.exec(span)?.[1];
  const scrub = id === undefined ? undefined : snapshot.pipelines.get(id)?.scrub;
  if (scrub === undefined || scrub(span) === span) return span;
  return JSON.stringify(hideSecrets(snapshot, id, JSON.parse(span) as unknown));
}
