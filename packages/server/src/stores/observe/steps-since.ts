import { sql } from 'kysely';
import type { ObserveDb } from './schema.ts';
import { allSteps, type Segment, segmentColumns, segmentTable } from './segments.ts';

/** Clock steps backwards of less than this are tolerated. */
const CLOCK_STEP_MS = 60_000;

/**
 * The steps written at `since` or later, in SQLite without the segments that ended before. A step is never older than its event, so a page
 * of new events reads one or two segments instead of all.
 */
export async function stepsSince({ db, engine }: ObserveDb, since: number): Promise<'trace_steps'> {
  if (engine === 'postgres') return 'trace_steps';
  const { rows } = await sql<Pick<Segment, 'id'>>`select id from trace_segments
    where last_at is null or last_at >= ${since - CLOCK_STEP_MS} order by id desc`.execute(db);
  if (rows.length === 0) return allSteps(engine);
  const columns = segmentColumns('trace_steps').map(([name]) => name);
  const arms = rows.map(({ id }) => `select ${columns.join(', ')} from ${segmentTable('trace_steps', id)}`);
  // The cast: the same columns as the table, and more.
  return sql`(${sql.raw(arms.join(' union all '))})`.as('trace_steps') as unknown as 'trace_steps';
}
/** Retention dropped a segment between two statements. */
export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such table');
}
