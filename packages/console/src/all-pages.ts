import { nextOffset } from './next-offset.ts';

interface Page<T> {
  rows: readonly T[];
  offset: number;
  total: number;
}
/** Every entry of a list that stays small enough to be shown whole: the integrations of a pipeline. */
export async function allPages<T>(read: (offset: number) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page: Page<T> = await read(offset);
    all.push(...page.rows);
    offset = nextOffset(page, page.rows);
  }
  return all;
}
