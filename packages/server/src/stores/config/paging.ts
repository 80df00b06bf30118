import type { SelectQueryBuilder } from 'kysely';

export interface Page {
  limit: number;
  offset: number;
}
export interface Paged<T> {
  rows: T[];
  total: number;
}

/**
 * The total for a page. Rows added between the two queries must not give a total smaller than the rows shown. No COUNT query is needed
 * when the page is not full, unless it is empty and not the first.
 */
export async function totalBeside(rows: number, { limit, offset }: Page, count: () => Promise<number>): Promise<number> {
  if (rows < limit && (rows > 0 || offset === 0)) return offset + rows;
  return Math.max(await count(), rows > 0 ? offset + rows : 0);
}

interface Listed<Row> {
  limit(limit: number): { offset(offset: number): { execute(): Promise<Row[]> } };
}
/** Reads one page of a query with columns and order, and the total. */
export async function readPage<Row>(listed: Listed<Row>, page: Page, count: () => Promise<number>): Promise<Paged<Row>> {
  const rows = await listed.limit(page.limit).offset(page.offset).execute();
  return { rows, total: await totalBeside(rows.length, page, count) };
}

/** Runs after the page query, not in parallel: with a nearby database, a second connection costs more than the wait. */
export async function countOf<DB, Tables extends keyof DB>(query: SelectQueryBuilder<DB, Tables, unknown>): Promise<number> {
  const counted = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return (counted as { total: number }).total;
}

/** For `like … escape '\'`: % and _ in the user's text match literally. */
export function likeContaining(text: string): string {
  return `%${text.replace(/[\\%_]/g, (found) => `\\${found}`)}%`;
}
