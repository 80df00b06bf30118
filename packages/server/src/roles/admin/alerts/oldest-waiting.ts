/** The event behind a backlog. Reads the records of one millisecond and their steps, whatever the size of the backlog. */
import type { Integration } from '@firsthand/core/config/resources.ts';
import { eventsTopic, openEventRecord, readEventRecordId } from '../../../event-record.ts';
import type { Operations } from '../../../operations/operations.ts';
import type { Failure } from '../../../stores/observe/first-failure.ts';
import { stepsOfEvents } from '../../../stores/observe/traces.ts';

/** Records that are appended together have the same time. */
const MOST_LOOKED_AT = 1_000;

/**
 * `at`: when the oldest unsettled record of the integration was appended. The traces tell which of that time it is. Undefined where they do
 * not: for replays, and for an event without a trace that was never tried.
 */
export async function oldestWaiting(
  { log, observe }: Pick<Operations, 'log' | 'observe'>,
  { id, org_id, pipeline_id }: Pick<Integration, 'id' | 'org_id' | 'pipeline_id'>,
  at: number,
): Promise<Failure | undefined> {
  const events = [];
  for await (const record of log.read(eventsTopic(pipeline_id), { from: new Date(at), to: new Date(at + 1), limit: MOST_LOOKED_AT })) {
    const { received_at, untraced = false } = openEventRecord(record.data).meta;
    events.push({ pipeline_id, event_id: readEventRecordId(record.id).event_id, received_at, untraced });
  }
  const steps = (await stepsOfEvents(observe, org_id, events)).filter(({ integration_id }) => integration_id === id);
  const lastStep = new Map(steps.map((step) => [step.event_id, step]));
  const waiting =
    events.find(({ event_id }) => lastStep.get(event_id)?.kind === 'retrying') ??
    events.find(({ event_id, untraced }) => !untraced && !lastStep.has(event_id));
  return waiting && { event_id: waiting.event_id, pipeline_id, reason: null };
}
