/** What the organisation's processing does to one event, computed by the code that processes events on the server. */
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { canonicaliseParsed } from '@firsthand/core/event/canonicalise.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { Decision } from '@firsthand/core/outcome/outcome.ts';
import { compileOrganisation, compileProcessing } from '@firsthand/core/process/compiled.ts';
import { processEvent } from '@firsthand/core/process/process-event.ts';

export type Preview =
  | {
      kind: 'ok';
      after: CanonicalEvent;
      decisions: Decision[];
      dropped: string | undefined;
      faults: { field: string; message: string }[];
    }
  | { kind: 'invalid'; message: string };

/** User code runs in the server's sandbox only; here it is left out, and the page says so. */
export async function previewDataLayer(config: DataLayerConfig, text: string, pipelineId = 'pl'): Promise<Preview> {
  let body: JsonObject;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      return { kind: 'invalid', message: 'The event must be a JSON object.' };
    body = parsed as JsonObject;
  } catch (error) {
    return { kind: 'invalid', message: error instanceof Error ? error.message : String(error) };
  }
  const anonymousId = typeof body.anonymousId === 'string' ? body.anonymousId : 'preview-visitor';
  const now = Date.now();
  const event = canonicaliseParsed(
    { v: 1, org_id: 'org', pipeline_id: pipelineId, event_id: 'preview', received_at: now, source: 'browser', anonymous_id: anonymousId },
    structuredClone(body),
  );
  const { organisation, faults } = compileOrganisation({ ...config, custom_js: { ...config.custom_js, enabled: false } });
  const { processing } = compileProcessing({ transformations: [], parameters: {} });
  const result = await processEvent(
    {
      event,
      request: { source: 'browser' },
      org_id: 'org',
      pipeline_id: pipelineId,
      received_at: now,
      organisation,
      processing,
      visitor: { id: anonymousId, state: {} },
    },
    { runCode: async () => ({ kind: 'failed', reason: 'user code runs on the server only' }) as never },
  );
  return {
    kind: 'ok',
    after: result.event,
    decisions: result.decisions,
    dropped: result.kind === 'processed' ? undefined : result.reason,
    faults,
  };
}
