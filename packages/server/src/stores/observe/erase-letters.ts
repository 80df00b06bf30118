import type { ErasedPerson } from './erase-traces.ts';
import type { ObserveDb } from './schema.ts';
import { storedId } from './stored-text.ts';
import type { DeadLetterRow } from './tables.ts';

/** A dead letter of an erased person. The place in the log is that of an event that failed in processing, as received. */
export type ErasedLetter = Pick<DeadLetterRow, 'id' | 'pipeline_id' | 'event_id' | 'raw_topic' | 'raw_position'>;
const PAGE = 1_000;
const SLICE = 200;

/** No index has the persons of dead letters, so all of the organisation are read, in pages: one statement would take too long. */
export async function findLettersOf({ db }: ObserveDb, orgId: string, who: ErasedPerson): Promise<ErasedLetter[]> {
  const users = new Set<string | null>(who.user_ids.map(storedId));
  const visitors = new Set<string | null>(who.anonymous_ids.map(storedId));
  const ids: string[] = [];
  for (let last: { created_at: number; id: string } | undefined; ; ) {
    let page = db
      .selectFrom('dead_letters')
      .select(['id', 'user_id', 'anonymous_id', 'created_at'])
      .where('org_id', '=', orgId)
      .orderBy('created_at')
      .orderBy('id')
      .limit(PAGE);
    if (last !== undefined) {
      const { created_at, id } = last;
      page = page.where('created_at', '>=', created_at).where(({ eb, or }) => or([eb('created_at', '>', created_at), eb('id', '>', id)]));
    }
    const rows = await page.execute();
    for (const { id, user_id, anonymous_id } of rows) if (users.has(user_id) || visitors.has(anonymous_id)) ids.push(id);
    if (rows.length < PAGE) break;
    last = rows.at(-1);
  }
  const found: ErasedLetter[] = [];
  for (const some of slices(ids))
    found.push(
      ...(await db
        .selectFrom('dead_letters')
        .select(['id', 'pipeline_id', 'event_id', 'raw_topic', 'raw_position'])
        .where('id', 'in', some)
        .execute()),
    );
  return found;
}

export async function removeLetters({ db }: ObserveDb, letters: readonly ErasedLetter[]): Promise<void> {
  for (const ids of slices(letters.map(({ id }) => id)))
    await db.transaction().execute((tx) => tx.deleteFrom('dead_letters').where('id', 'in', ids).execute());
}

function* slices(ids: readonly string[]): Iterable<string[]> {
  for (let from = 0; from < ids.length; from += SLICE) yield ids.slice(from, from + SLICE);
}
