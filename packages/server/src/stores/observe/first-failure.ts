/** The first event behind an alert, to show in its message. Reads one minute of one table, whatever the size of the installation. */

import type { AlertKind } from '@firsthand/core/config/alert.ts';
import { allTraces } from './all-traces.ts';
import { kyselyWriter } from './kysely-writer.ts';
import type { ObserveDb } from './schema.ts';
import { listSegments, segmentTable } from './segments.ts';
import { violatesPlan } from './traces.ts';

const MINUTE = 60_000;
const LONGEST_WAIT = 60 * MINUTE;
/** Rejections are counted up to a second after they happen, so that one at the end of a minute counts in the next. */
const COUNTED_WITHIN = 10_000;

export interface FailureScope {
  org_id: string;
  pipeline_id: string | null;
  integration_id: string | null;
}
export interface Failure {
  event_id: string;
  pipeline_id: string;
  reason: string | null;
}

/** `minuteAt`: a minute in which such an event was counted. */
export async function firstFailure(
  observe: ObserveDb,
  kind: AlertKind,
  scope: FailureScope,
  minuteAt: number,
): Promise<Failure | undefined> {
  const { db, engine } = observe;
  const until = minuteAt + MINUTE;
  if (kind === 'dead_letters' || kind === 'rejected') {
    let letters = db
      .selectFrom('dead_letters')
      .select(['event_id', 'pipeline_id', 'reason'])
      .where('org_id', '=', scope.org_id)
      .where('created_at', '>=', minuteAt - (kind === 'rejected' ? COUNTED_WITHIN : 0))
      .where('created_at', '<', until);
    letters = letters.where('stage', kind === 'rejected' ? 'in' : 'not in', ['ingest', 'webhook']);
    if (scope.pipeline_id !== null) letters = letters.where('pipeline_id', '=', scope.pipeline_id);
    if (scope.integration_id !== null) letters = letters.where('integration_id', '=', scope.integration_id);
    return await letters.orderBy('created_at').limit(1).executeTakeFirst();
  }
  if (kind === 'failing') {
    for (const table of await stepTables(observe, minuteAt, until)) {
      let steps = db
        .selectFrom(table)
        .select(['event_id', 'pipeline_id', 'reason'])
        .where('org_id', '=', scope.org_id)
        .where('at', '>=', minuteAt)
        .where('at', '<', until)
        .where('kind', 'in', ['retrying', 'dead_lettered']);
      if (scope.pipeline_id !== null) steps = steps.where('pipeline_id', '=', scope.pipeline_id);
      if (scope.integration_id !== null) steps = steps.where('integration_id', '=', scope.integration_id);
      const found = await steps.orderBy('at').limit(1).executeTakeFirst();
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (kind !== 'plan_violations') return undefined;
  let events = db
    .selectFrom(allTraces(engine))
    .select(['event_id', 'pipeline_id', 'reason'])
    .where('org_id', '=', scope.org_id)
    .where('processed_at', '>=', minuteAt)
    .where('processed_at', '<', until)
    // For the index: an event that waited longer for its processing is not found.
    .where('received_at', '>=', minuteAt - LONGEST_WAIT)
    .where('received_at', '<', until)
    .where(violatesPlan);
  if (scope.pipeline_id !== null) events = events.where('pipeline_id', '=', scope.pipeline_id);
  return await events.orderBy('processed_at').limit(1).executeTakeFirst();
}

/** Steps have no index by time. In SQLite only the segments of that time are read. */
async function stepTables(observe: ObserveDb, from: number, until: number): Promise<'trace_steps'[]> {
  if (observe.engine === 'postgres') return ['trace_steps'];
  const segments = await listSegments(kyselyWriter(observe));
  return (
    segments
      .filter(({ first_at, last_at }) => (first_at ?? until) < until && (last_at ?? 0) >= from)
      // The cast: a segment has the columns of the table.
      .map(({ id }) => `${segmentTable('trace_steps', id)} as trace_steps` as 'trace_steps')
  );
}
