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
 * How many there are, told together with a page of them: what is added between two queries must not make a total of rows that
 * the page does not show. A page that is not full, or the first, says it by itself.
 */
export async function totalBeside(rows: number, { limit, offset }: Page, count: () => Promise<number>): Promise<number> {
  if (rows < limit && (rows > 0 || offset === 0)) return offset + rows;
  return Math.max(await count(), rows > 0 ? offset + rows : 0);
}

interface Listed<Row> {
  limit(limit: number): { offset(offset: number): { execute(): Promise<Row[]> } };
}
/** One page of a query that says columns and order, and how many there are in all. */
export async function readPage<Row>(listed: Listed<Row>, page: Page, count: () => Promise<number>): Promise<Paged<Row>> {
  const rows = await listed.limit(page.limit).offset(page.offset).execute();
  return { rows, total: await totalBeside(rows.length, page, count) };
}

/** Asked after the page, not beside it: two connections at once cost a near database more than the one waits for the other. */
export async function countOf<DB, Tables extends keyof DB>(query: SelectQueryBuilder<DB, Tables, unknown>): Promise<number> {
  const counted = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return (counted as { total: number }).total;
}

/** For `like … escape '\'`: the user's own % and _ mean themselves. */
export function likeContaining(text: string): string {
  return `%${text.replace(/[\\%_]/g, (found) => `\\${found}`)}%`;
}
