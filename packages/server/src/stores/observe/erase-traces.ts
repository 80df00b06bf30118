import { keyOf } from './keys.ts';
import { kyselyWriter } from './kysely-writer.ts';
import type { TraceEventRow } from './rows.ts';
import type { ObserveDb } from './schema.ts';
import { allTraces, listSegments, segmentTable } from './segments.ts';
import { storedId } from './stored-text.ts';
import { idIn, idIs, inOrganisation } from './traces.ts';
import type { Writer } from './writer.ts';

/** An event of an erased person. */
export type ErasedTrace = Pick<TraceEventRow, 'pipeline_id' | 'event_id' | 'raw_topic' | 'raw_position' | 'stored_position'>;
const SLICE = 200;

/** The traces of a person. They also hold the log positions of the events. An event may have several. */
export async function findTracesOf(
  observe: ObserveDb,
  orgId: string,
  who: { user_id?: string; anonymous_ids: string[] },
): Promise<ErasedTrace[]> {
  const { db, engine } = observe;
  const anonymousIds = who.anonymous_ids.map(storedId);
  // One query per index: with `or` between them, SQLite would read every trace.
  const conditions = [
    ...(who.user_id === undefined ? [] : [idIs(engine, 'user', storedId(who.user_id))]),
    ...(anonymousIds.length === 0 ? [] : [idIn(engine, 'anonymous', anonymousIds)]),
  ];
  const found = new Map<string, ErasedTrace>();
  for (const condition of conditions) {
    const rows = await db
      .selectFrom(allTraces(engine))
      .select(['pipeline_id', 'event_id', 'raw_topic', 'raw_position', 'stored_position'])
      .where(inOrganisation(engine, orgId))
      .where(condition)
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
        for (const table of ['trace_steps', 'trace_events']) await tx.run(`delete from ${table} where ${same}`, parameters);
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
