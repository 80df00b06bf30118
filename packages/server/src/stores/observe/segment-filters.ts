/**
 * Which segments may have a key (`keys.ts`), without asking their indexes: a Bloom filter for each segment that takes no more rows. Equal
 * places of 32 filters form a word, so that one row of `trace_filters` answers for 32 segments. A segment of a version without filters is
 * always asked. Rows are only ever removed from a full segment, so its filter stays true.
 */
import { keyOf } from './keys.ts';
import type { Writer } from './writer.ts';

/** Segments whose filters share their rows: one for each bit of a word. */
const GROUP = 32;
/** Of a group. The first bits of a key choose the row, so that the keys of some rows are a range of an index. */
const ROWS = 2_048;
const KEYS_PER_ROW = 2 ** 52 / ROWS;
/** Written at once: the memory for it is a part of a group's. */
const SLICE = 256;
/** For the id, the visitor and sometimes the user of an event. One key in a hundred is found where it is not. */
const PLACES_PER_EVENT = 24;
const PROBES = 5;
const LEAST_WORDS = 32;

interface FilterRow {
  id: number;
  /** 32-bit words in the order of the processor. The first has the segments of the group that have a filter. */
  words: Uint8Array;
}
export interface FullSegment {
  id: number;
  events: number;
  table: string;
}

export async function prepareFilters(writer: Writer): Promise<void> {
  await writer.run('create table if not exists trace_filters (id integer primary key, words blob not null)');
}

/** Call in the transaction after which the segment takes no more rows. */
export async function addFilter(writer: Writer, { id, events, table }: FullSegment): Promise<void> {
  const bit = 1 << (id % GROUP);
  const firstRow = groupOf(id) * ROWS;
  const [present] = await writer.all<FilterRow>('select id, words from trace_filters where id = ?', [firstRow]);
  // Segments of a group are about as large as its first.
  const length = present === undefined ? LEAST_WORDS + Math.ceil((events * PLACES_PER_EVENT) / ROWS) : present.words.length / 4;
  const few = await namesAndResults(writer, table);
  for (let row = 0; row < ROWS; row += SLICE) {
    const words = new Uint32Array(SLICE * length);
    const between = [firstRow + row, firstRow + row + SLICE];
    const rows = await writer.all<FilterRow>('select id, words from trace_filters where id >= ? and id < ?', between);
    for (const each of rows) words.set(wordsOf(each), (each.id - firstRow - row) * length);
    const keys = [...few.filter((key) => rowOf(key) >= row && rowOf(key) < row + SLICE), ...(await idsBetween(writer, table, row))];
    for (const key of keys) {
      const start = (rowOf(key) - row) * length;
      for (let probe = 0; probe < PROBES; probe++) words[start + placeOf(key, length, probe)]! |= bit;
    }
    const filled = Array.from({ length: SLICE }, (_, i) => {
      words[i * length]! |= bit;
      return [firstRow + row + i, new Uint8Array(words.buffer, i * length * 4, length * 4)];
    });
    await writer.runEach(
      'insert into trace_filters (id, words) values (?, ?) on conflict (id) do update set words = excluded.words',
      filled,
    );
  }
}

/** The keys that belong to a slice of rows. */
async function idsBetween(writer: Writer, table: string, row: number): Promise<number[]> {
  const keys: number[] = [];
  for (const column of ['event_key', 'user_key', 'anonymous_key']) {
    // As one text: a row for each key would take several times as long.
    const [found] = await writer.all<{ keys: string }>(
      `select json_group_array(${column}) as keys from ${table} where ${column} >= ? and ${column} < ?`,
      [row * KEYS_PER_ROW, (row + SLICE) * KEYS_PER_ROW],
    );
    for (const key of JSON.parse(found?.keys ?? '[]') as number[]) keys.push(key);
  }
  return keys;
}
async function namesAndResults(writer: Writer, table: string): Promise<number[]> {
  const names = await writer.all<{ name_key: number }>(`select distinct name_key from ${table} where name_key is not null`);
  const results = await writer.all<{ result: string }>(`select distinct result from ${table} where result <> 'processed'`);
  return [...names.map(({ name_key }) => name_key), ...results.map(({ result }) => keyOf(result))];
}

/** The segments that may have events with this key as their id, visitor, user, name or result (other than `processed`). */
export async function withKey<S extends { id: number }>(writer: Pick<Writer, 'all'>, segments: readonly S[], key: number): Promise<S[]> {
  const groups = [...new Set(segments.map(({ id }) => groupOf(id)))];
  const rows = await writer.all<FilterRow>('select id, words from trace_filters where id in (select value from json_each(?))', [
    JSON.stringify(groups.map((group) => group * ROWS + rowOf(key))),
  ]);
  const found = new Map(rows.map((row) => [Math.floor(row.id / ROWS), bitsOf(wordsOf(row), key)]));
  return segments.filter(({ id }) => ((found.get(groupOf(id)) ?? -1) & (1 << (id % GROUP))) !== 0);
}
/** Those without a filter, and those whose filter has the key. */
function bitsOf(words: Uint32Array, key: number): number {
  let bits = -1;
  for (let probe = 0; probe < PROBES; probe++) bits &= words[placeOf(key, words.length, probe)] ?? 0;
  return bits | ~(words[0] ?? 0);
}

/** Call when segments are dropped. */
export async function removeFiltersBefore(writer: Writer, oldest: number): Promise<void> {
  await writer.run('delete from trace_filters where id < ?', [groupOf(oldest) * ROWS]);
}

const groupOf = (segment: number) => Math.floor(segment / GROUP);
const rowOf = (key: number) => Math.floor(key / KEYS_PER_ROW);
/** A key is a hash: its last 32 bits are as good as another. */
function placeOf(key: number, length: number, probe: number): number {
  const places = length - 1;
  const low = key >>> 0;
  const step = 1 + (Math.floor(low / places) % (places - 1));
  return 1 + (((low % places) + probe * step) % places);
}
/** A copy, because words have to be aligned. */
function wordsOf({ words }: FilterRow): Uint32Array {
  return new Uint32Array(new Uint8Array(words).buffer);
}
