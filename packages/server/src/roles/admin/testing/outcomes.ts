/** Outcomes as the roles would write them, for tests of what the API shows. */
import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';
import { newId } from '../../../runtime/ids.ts';
import type { Story } from './story.ts';

export const T0 = Date.parse('2026-05-01T10:00:00.000Z');
/** After everything that a test makes: an integration counts from when it was added. */
export const LATER = Date.parse('2036-05-01T10:00:00.000Z');
export const iso = (ms: number): string => new Date(ms).toISOString();
let made = 0;

export async function newIntegration(story: Story): Promise<{ pipeline: string; integration: string }> {
  const pipeline = (await story.made('pipelines', { name: `Pipeline ${++made}` })).id;
  const body = { source_id: pipeline, vendor: 'webhook', name: 'Hook', config: { url: 'https://hooks.example/in' } };
  return { pipeline, integration: (await story.made('integrations', body)).id };
}

/** The part that every outcome of an event shares. */
export function about(story: Story, pipeline: string) {
  return { org_id: story.org.org_id, pipeline_id: pipeline, event_id: `event-${++made}`, type: 'track', event: 'Order Completed' } as const;
}

export type About = Pick<
  Extract<Outcome, { kind: 'processed' }>,
  'at' | 'org_id' | 'pipeline_id' | 'event_id' | 'type' | 'original_type' | 'event' | 'user_id'
>;
/** The same for an event with a known id, at T0 unless told otherwise. */
export function aboutEvent(story: Story, pipeline: string, event_id: string, more: Partial<About> = {}): About {
  return { at: T0, ...about(story, pipeline), event_id, ...more };
}
export const attempt = (status: number, error: string | null = null) => ({ at: iso(T0), status, error, duration_ms: 12 });

export function aDeadLetter(
  story: Story,
  of: { pipeline: string; integration: string; event_id: string; at: number; reason?: string },
): DeadLetter {
  return {
    id: newId('dlq', of.at),
    org_id: story.org.org_id,
    pipeline_id: of.pipeline,
    integration_id: of.integration,
    webhook_source_id: null,
    vendor: 'webhook',
    revision_number: 1,
    event_id: of.event_id,
    stage: 'delivery',
    event: { event_id: of.event_id, type: 'track', event: 'Order Completed', timestamp: iso(of.at), context: {} },
    attempts: [{ at: iso(of.at), status: 500, error: null, duration_ms: 5 }],
    reason: of.reason ?? 'http_500',
    created_at: iso(of.at),
    expires_at: iso(of.at + 86_400_000),
  };
}
