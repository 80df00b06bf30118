import { type TestCase, testCase } from '@firsthand/core/config/event-case.ts';
import { bytesOf, countOf, decodeInTurns, type Page, type Paged, readBoundedPage } from './paging.ts';
import type { Db, TestCaseRow } from './schema.ts';
import { storedJsonInTurns } from './stored-json.ts';

/** The event is the only column with JSON, and may be large. */
async function read(row: TestCaseRow): Promise<TestCase> {
  const event = await storedJsonInTurns<unknown>(row.event, undefined);
  return testCase.fromRow(row, <T>(_field: string, _text: string, empty: T) => (event ?? empty) as T);
}

function select(db: Db, orgId: string) {
  return db.selectFrom('test_cases').where('org_id', '=', orgId);
}

export async function findTestCase(db: Db, orgId: string, id: string): Promise<TestCase | undefined> {
  const row = await select(db, orgId).selectAll().where('id', '=', id).executeTakeFirst();
  return row && (await read(row));
}

/** Newest first. With a pipeline given: its own test cases and those without a pipeline. */
export async function listTestCases(db: Db, orgId: string, pipelineId: string | undefined, page: Page): Promise<Paged<TestCase>> {
  let query = select(db, orgId);
  if (pipelineId !== undefined) query = query.where((eb) => eb.or([eb('pipeline_id', '=', pipelineId), eb('pipeline_id', 'is', null)]));
  const ordered = query.orderBy('created_at', 'desc').orderBy('id', 'desc');
  const { rows, total } = await readBoundedPage(ordered.selectAll(), ordered.select(bytesOf('event')), page, () => countOf(query));
  return { rows: await decodeInTurns(rows, read), total };
}

export async function countTestCases(db: Db, orgId: string): Promise<number> {
  return await countOf(select(db, orgId));
}

export async function insertTestCase(tx: Db, value: TestCase): Promise<TestCase> {
  // Not read back: parsing a large event takes as long as writing it.
  await tx.insertInto('test_cases').values(testCase.toColumns(value)).execute();
  return value;
}

export async function deleteTestCase(tx: Db, orgId: string, id: string): Promise<void> {
  await tx.deleteFrom('test_cases').where('org_id', '=', orgId).where('id', '=', id).execute();
}

/** Deletes the test cases whose event has one of these ids. Returns their number. */
export async function eraseTestCases(
  db: Db,
  orgId: string,
  ids: { user_ids: readonly string[]; anonymous_ids: readonly string[] },
): Promise<number> {
  const [users, visitors] = [new Set<unknown>(ids.user_ids), new Set<unknown>(ids.anonymous_ids)];
  const found: string[] = [];
  for (let offset = 0; ; ) {
    const { rows } = await listTestCases(db, orgId, undefined, { limit: 100, offset });
    if (rows.length === 0) break;
    offset += rows.length;
    for (const { id, event } of rows) if (users.has(event.user_id) || visitors.has(event.anonymous_id)) found.push(id);
  }
  for (const id of found) await deleteTestCase(db, orgId, id);
  return found.length;
}
