/** Rows with documents of up to 1 MB, read few at a time: SQLite answers on this thread, and events arrive while thousands are parsed. */
import { turns } from '../../runtime/turns.ts';
import { engineOf } from './open.ts';
import type { Db } from './schema.ts';

interface Sized {
  id: string;
  bytes: number;
}
/** Large rows that are read in one query. */
const CHUNK_BYTES = 500_000;

/** Reads rows in the order of `sized`, with turns of the loop in between. Rows deleted meanwhile are left out. */
export async function* rowsInTurns<Row extends { id: string }>(
  sized: readonly Sized[],
  read: (ids: string[]) => Promise<Row[]>,
): AsyncGenerator<Row> {
  for (const ids of chunksOf(sized)) {
    await turns.bulk();
    const rows = new Map((await read(ids)).map((row) => [row.id, row]));
    for (const id of ids) {
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
      const row = rows.get(id);
      if (row !== undefined) yield row;
    }
  }
}
/** The same, decoded. */
export async function readInTurns<Row extends { id: string }, T>(
  sized: readonly Sized[],
  read: (ids: string[]) => Promise<Row[]>,
  decode: (row: Row) => T,
): Promise<T[]> {
  const decoded: T[] = [];
  for await (const row of rowsInTurns(sized, read)) decoded.push(decode(row));
  return decoded;
}
/** Each has at most CHUNK_BYTES, but at least one row. */
function* chunksOf(sized: readonly Sized[]): Generator<string[]> {
  let ids: string[] = [];
  let sum = 0;
  for (const { id, bytes } of sized) {
    if (ids.length > 0 && sum + Number(bytes) > CHUNK_BYTES) {
      yield ids;
      ids = [];
      sum = 0;
    }
    ids.push(id);
    sum += Number(bytes);
  }
  if (ids.length > 0) yield ids;
}

/** Rows whose sizes are asked for at once: there may be thousands. Each query waits for the other side, which SQLite does on this thread. */
const CHUNK = { sqlite: 250, postgres: 1_000 };

export interface Documents<Row extends { id: string }, T> {
  sizes(ids: string[]): Promise<Sized[]>;
  rows(ids: string[]): Promise<Row[]>;
  decode(row: Row): T;
}
/** Asks for the sizes first. */
export async function readSized<Row extends { id: string }, T>(
  tx: Db,
  ids: readonly string[],
  { sizes, rows, decode }: Documents<Row, T>,
): Promise<T[]> {
  const read: T[] = [];
  for (const chunk of inChunks(ids, CHUNK[engineOf(tx)])) {
    const sized = chunk.length === 1 ? chunk.map((id) => ({ id, bytes: 0 })) : await sizes(chunk);
    read.push(...(await readInTurns(sized, rows, decode)));
  }
  return read;
}

function* inChunks<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
