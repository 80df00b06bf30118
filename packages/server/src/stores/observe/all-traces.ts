/** Where to read traces from. Apart from `segments.ts`, because the recorder thread loads no query builder. */
import { sql } from 'kysely';
import { EARLIER_TRACES, type Engine, TABLES } from './tables.ts';

const COLUMNS = Object.keys(TABLES.trace_events.columns).join(', ');

/** The casts: the columns are those of the table. */
export function allTraces(engine: Engine): 'trace_events' {
  if (engine === 'sqlite') return 'all_trace_events as trace_events' as 'trace_events';
  const both = `(select ${COLUMNS} from trace_events union all select ${COLUMNS} from ${EARLIER_TRACES})`;
  // The cast: as above.
  return sql.raw(both).as('trace_events') as unknown as 'trace_events';
}
export function allSteps(engine: Engine): 'trace_steps' {
  return (engine === 'sqlite' ? 'all_trace_steps as trace_steps' : 'trace_steps') as 'trace_steps';
}
