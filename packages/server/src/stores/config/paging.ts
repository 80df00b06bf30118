import { type SelectQueryBuilder, sql } from 'kysely';
import { turns } from '../../runtime/turns.ts';

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
  // Each statement may take milliseconds of this thread on SQLite.
  await turns.bulk();
  return { rows, total: await totalBeside(rows.length, page, count) };
}

/** The content of one page, at most: answering more takes seconds and hundreds of megabytes. A page has at least one entry. */
export const PAGE_BYTES = 2_000_000;

/** How many of the first entries fit on a page. */
export function fitting(sizes: readonly number[], most = PAGE_BYTES): number {
  let bytes = 0;
  const full = sizes.findIndex((size, at) => (bytes += size) > most && at > 0);
  return full < 0 ? sizes.length : full;
}

/** The sum of the stored bytes of these columns, for `fitting`. The database knows them without reading the content. */
export function bytesOf(...columns: string[]) {
  const sizes = columns.map((column) => sql<number>`coalesce(octet_length(${sql.ref(column)}), 0)`);
  return sql<number>`${sql.join(sizes, sql` + `)}`.as('bytes');
}

/**
 * Like `readPage` for rows that may be large: the page ends at PAGE_BYTES, with fewer rows than `limit`. `sized` is the same query with
 * `bytesOf` as its only column.
 */
export async function readBoundedPage<Row>(
  listed: Listed<Row>,
  sized: Listed<{ bytes: number }>,
  page: Page,
  count: () => Promise<number>,
): Promise<Paged<Row>> {
  const sizes = await sized.limit(page.limit).offset(page.offset).execute();
  const limit = fitting(sizes.map(({ bytes }) => Number(bytes)));
  await turns.bulk();
  const rows = limit === 0 ? [] : await listed.limit(limit).offset(page.offset).execute();
  await turns.bulk();
  return { rows, total: await totalBeside(sizes.length, page, count) };
}

/** Decodes rows with turns of the loop in between. */
export async function decodeInTurns<Row, T>(rows: readonly Row[], decode: (row: Row) => T | Promise<T>): Promise<T[]> {
  const decoded: T[] = [];
  for (const row of rows) {
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
    decoded.push(await decode(row));
  }
  return decoded;
}

/** Runs after the page query, not in parallel: with a nearby database, a second connection costs more than the wait. */
export async function countOf<DB, Tables extends keyof DB>(query: SelectQueryBuilder<DB, Tables, unknown>): Promise<number> {
  const counted = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return (counted as { total: number }).total;
}

/** The text is part of one of the columns, in any case. The engines fold case for ASCII only: searching the text as typed finds other letters. */
export function anyContains(columns: readonly string[], text: string) {
  const [typed, folded] = [likeContaining(text), likeContaining(text.toLowerCase())];
  const each = columns.map((column) => {
    const ref = sql.ref(column);
    return sql`lower(${ref}) like ${folded} escape '\\' or ${ref} like ${typed} escape '\\'`;
  });
  return sql<boolean>`(${sql.join(each, sql` or `)})`;
}

/** For `like … escape '\'`: % and _ in the user's text match literally. */
export function likeContaining(text: string): string {
  return `%${text.replace(/[\\%_]/g, (found) => `\\${found}`)}%`;
}
