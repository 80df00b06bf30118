/** What a change of the data layer does to events, computed by the code that processes events on the server. */
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { compileOrganisation, compileProcessing } from '@firsthand/core/process/compiled.ts';
import { processEvent } from '@firsthand/core/process/process-event.ts';
import { number } from '../../format.ts';
import type { RecentEvent } from '../mapping/recent-events.ts';

export interface DataLayerEffect {
  compared: number;
  newlyDropped: number;
  noLongerDropped: number;
  changed: number;
}

/**
 * Both configs over the same stored events, without custom code, which runs on the server only, and without what is known of the visitor.
 * Stored events have been through the privacy rules: what those removed is not there to be seen again.
 */
export async function dataLayerEffect(
  before: DataLayerConfig,
  after: DataLayerConfig,
  events: readonly RecentEvent[],
): Promise<DataLayerEffect> {
  const [old, next] = [runner(before), runner(after)];
  const effect: DataLayerEffect = { compared: 0, newlyDropped: 0, noLongerDropped: 0, changed: 0 };
  for (const one of events) {
    const [was, is] = [await old(one), await next(one)];
    effect.compared++;
    if (was === null && is !== null) effect.noLongerDropped++;
    else if (was !== null && is === null) effect.newlyDropped++;
    else if (was !== is) effect.changed++;
  }
  return effect;
}

/** The event as a text, or null where it is dropped. */
function runner(config: DataLayerConfig): (one: RecentEvent) => Promise<string | null> {
  const { organisation } = compileOrganisation({ ...config, custom_js: { ...config.custom_js, enabled: false } });
  const { processing } = compileProcessing({ transformations: [], parameters: {} });
  const about = { org_id: 'org', organisation, processing, visitor: undefined, request: { source: 'browser' } as const };
  return async ({ pipeline_id, event }) => {
    const input = { ...about, event: structuredClone(event), pipeline_id, received_at: Date.parse(event.timestamp) };
    const result = await processEvent(input, { runCode: async () => ({ kind: 'failed', reason: 'left out' }) as never });
    return result.kind === 'processed' ? JSON.stringify(result.event) : null;
  };
}

/** For the question before the change; undefined where it concerns none of the events. */
export function effectText({ compared, newlyDropped, noLongerDropped, changed }: DataLayerEffect): string | undefined {
  const parts = [
    [newlyDropped, 'would be dropped'],
    [noLongerDropped, 'would no longer be dropped'],
    [changed, 'would be changed'],
  ] as const;
  const found = parts.filter(([count]) => count > 0).map(([count, what]) => `${number(count)} ${what}`);
  return found.length === 0 ? undefined : `Of the last ${number(compared)} events of all pipelines ${found.join(', ')}.`;
}
