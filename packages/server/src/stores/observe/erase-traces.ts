import { allTraces } from './all-traces.ts';
import { keyOf } from './keys.ts';
import { kyselyWriter } from './kysely-writer.ts';
import type { TraceEventRow } from './rows.ts';
import type { ObserveDb } from './schema.ts';
import { listSegments, segmentTable } from './segments.ts';
import { storedId } from './stored-text.ts';
import { EARLIER_TRACES } from './tables.ts';
import { idIn, inOrganisation } from './traces.ts';
import type { Writer } from './writer.ts';

/** An event of an erased person. */
export type ErasedTrace = Pick<TraceEventRow, 'pipeline_id' | 'event_id' | 'raw_topic' | 'raw_position' | 'stored_position'>;
/** Linked visitors may be tens of thousands. */
export interface ErasedPerson {
  user_ids: readonly string[];
  anonymous_ids: readonly string[];
}
/** In one query: it has 5 s, also on a busy machine. */
const MOST_IDS = 500;
const SLICE = 200;

/** The traces of a person. They also hold the log positions of the events. An event may have several. */
export async function findTracesOf(observe: ObserveDb, orgId: string, who: ErasedPerson): Promise<ErasedTrace[]> {
  const { db, engine } = observe;
  const found = new Map<string, ErasedTrace>();
  // One query per index: with `or` between them, SQLite would read every trace.
  for (const [kind, ids] of [
    ['user', who.user_ids],
    ['anonymous', who.anonymous_ids],
  ] as const)
    for (let from = 0; from < ids.length; from += MOST_IDS) {
      const rows = await db
        .selectFrom(allTraces(engine))
        .select(['pipeline_id', 'event_id', 'raw_topic', 'raw_position', 'stored_position'])
        .where(inOrganisation(engine, orgId))
        .where(idIn(engine, kind, ids.slice(from, from + MOST_IDS).map(storedId)))
        .execute();
      for (const row of rows) found.set(JSON.stringify(row), row);
    }
  return [...found.values()];
}

/** Forgets these events. */
export async function removeTraces(observe: ObserveDb, rows: readonly ErasedTrace[]): Promise<void> {
  const { engine } = observe;
  const writer = kyselyWriter(observe);
  for (let i = 0; i < rows.length; i += SLICE) {
    const slice = rows.slice(i, i + SLICE);
    await writer.transaction(async (tx) => {
      if (engine === 'postgres') {
        const same = slice.map(() => '(pipeline_id = ? and event_id = ?)').join(' or ');
        const parameters = slice.flatMap(({ pipeline_id, event_id }) => [pipeline_id, event_id]);
        for (const table of ['trace_steps', 'trace_events', EARLIER_TRACES]) await tx.run(`delete from ${table} where ${same}`, parameters);
        return;
      }
      const parameters = [
        JSON.stringify(slice.map(({ event_id }) => keyOf(event_id))),
        JSON.stringify(slice.map(({ pipeline_id, event_id }) => [pipeline_id, event_id])),
      ];
      for (const { id } of await listSegments(tx))
        for (const kind of ['trace_steps', 'trace_events'] as const)
          await tx.run(
            `delete from ${segmentTable(kind, id)} where event_key in (select value from json_each(?))
              and (pipeline_id, event_id) in (select value->>0, value->>1 from json_each(?))`,
            parameters,
          );
    });
  }
}

/** Of these events. Dead letters have no index for it, so all of them are read once. */
export async function removeLettersOf(writer: Writer, events: readonly Pick<TraceEventRow, 'pipeline_id' | 'event_id'>[]): Promise<number> {
  if (events.length === 0) return 0;
  const pairs = JSON.stringify(events.map(({ pipeline_id, event_id }) => [pipeline_id, event_id]));
  const values =
    writer.engine === 'postgres'
      ? 'select value->>0, value->>1 from json_array_elements(?::json)'
      : 'select value->>0, value->>1 from json_each(?)';
  return await writer.run(`delete from dead_letters where (pipeline_id, event_id) in (${values})`, [pairs]);
}
