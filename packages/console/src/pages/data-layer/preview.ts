/** What the organisation's processing does to one event, computed by the code that processes events on the server. */

import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { canonicaliseParsed } from '@firsthand/core/event/canonicalise.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { Decision } from '@firsthand/core/outcome/outcome.ts';
import { compileOrganisation, compileProcessing } from '@firsthand/core/process/compiled.ts';
import { processEvent } from '@firsthand/core/process/process-event.ts';
import type { VisitorState } from '@firsthand/core/process/visitor.ts';
import { parseExactly } from '../../exact-json.ts';
import type { EarlierEvent } from './samples.ts';

export type Preview =
  | {
      kind: 'ok';
      received: JsonObject;
      after: CanonicalEvent;
      decisions: Decision[];
      dropped: string | undefined;
      faults: { field: string; message: string }[];
    }
  | { kind: 'invalid'; message: string };

export interface PreviewOptions {
  pipelineId?: string | undefined;
  /** What the visitor did before, oldest first. */
  earlier?: readonly EarlierEvent[];
}

/** User code runs in the server's sandbox only; here it is left out, and the page says so. */
export async function previewDataLayer(config: DataLayerConfig, text: string, options: PreviewOptions = {}): Promise<Preview> {
  let body: JsonObject;
  try {
    const parsed = parseExactly(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      return { kind: 'invalid', message: 'The event must be a JSON object.' };
    body = parsed as JsonObject;
  } catch (error) {
    return { kind: 'invalid', message: error instanceof Error ? error.message : String(error) };
  }
  const { pipelineId = 'pl', earlier = [] } = options;
  const anonymousId = typeof body.anonymousId === 'string' ? body.anonymousId : 'preview-visitor';
  const { organisation, faults } = compileOrganisation({ ...config, custom_js: { ...config.custom_js, enabled: false } });
  const { processing } = compileProcessing({ transformations: [], parameters: {} });
  let state: VisitorState = {};
  async function process(sent: JsonObject, received_at: number) {
    const event = canonicaliseParsed(
      { v: 1, org_id: 'org', pipeline_id: pipelineId, event_id: 'preview', received_at, source: 'browser', anonymous_id: anonymousId },
      structuredClone(sent),
    );
    const visitor = { id: anonymousId, state };
    const request = { source: 'browser' } as const;
    const result = await processEvent(
      { event, request, org_id: 'org', pipeline_id: pipelineId, received_at, organisation, processing, visitor },
      { runCode: async () => ({ kind: 'failed', reason: 'user code runs on the server only' }) as never },
    );
    state = result.visitor ?? state;
    return result;
  }
  const now = Date.now();
  for (const { minutes_ago, body: sent } of earlier) await process(sent as JsonObject, now - minutes_ago * 60_000);
  const result = await process(body, now);
  return {
    kind: 'ok',
    received: body,
    after: result.event,
    decisions: result.decisions,
    dropped: result.kind === 'processed' ? undefined : result.reason,
    faults,
  };
}
