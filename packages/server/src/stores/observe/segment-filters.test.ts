import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keyOf } from './keys.ts';
import type { TraceEventRow } from './rows.ts';
import { prepareObserve } from './schema.ts';
import { addFilter, withKey } from './segment-filters.ts';
import { addSegment, dropSegment, listSegments, segmentTable } from './segments.ts';
import { openSqliteWriter } from './sqlite-writer.ts';
import { addToSegment } from './write-segment.ts';

let dataDir: string;
let writer: ReturnType<typeof openSqliteWriter>;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'firsthand-segment-filters-'));
  writer = openSqliteWriter(join(dataDir, 'observe.sqlite'));
  await prepareObserve(writer);
});
afterEach(() => {
  writer.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const row = (event_id: string, more: Partial<TraceEventRow> = {}) =>
  ({
    ...{ org_id: 'org', pipeline_id: 'pl', event_id, received_at: 1, processed_at: 2, type: 'track', result: 'processed', decisions: '[]' },
    ...{ event: null, user_id: null, anonymous_id: null },
    ...more,
  }) as TraceEventRow;
const write = (...rows: TraceEventRow[]) => writer.transaction((tx) => addToSegment(tx, rows, [], undefined));
const nextSegment = async () => addSegment(writer, await listSegments(writer));
/** As it is when the newest segment is full. */
const fillNewest = () => writer.run('update trace_segments set events = 100000 where id = (select max(id) from trace_segments)');
async function filterNewest(): Promise<void> {
  const newest = (await listSegments(writer)).at(-1)!;
  await writer.transaction((tx) => addFilter(tx, { ...newest, table: segmentTable('trace_events', newest.id) }));
  await nextSegment();
}
const segmentsWith = async (text: string) => (await withKey(writer, await listSegments(writer), keyOf(text))).map(({ id }) => id);
const filterRows = async () => (await writer.all<{ n: number }>('select count(*) as n from trace_filters'))[0]?.n;

test('a full segment is asked only for the ids, users, visitors, names and results it has', async () => {
  await write(row('e1', { user_id: 'u1', anonymous_id: 'a1', event: 'Quiz Taken' }), row('e2', { result: 'dropped' }));
  await fillNewest();
  await write(row('e3', { user_id: 'u1', anonymous_id: 'a3' }));
  await fillNewest();
  await write(row('e4'));
  expect((await listSegments(writer)).map(({ id }) => id)).toEqual([1, 2, 3]);
  // The newest takes rows and has no filter yet.
  for (const [text, found] of [
    ['e1', [1, 3]],
    ['e2', [1, 3]],
    ['e3', [2, 3]],
    ['e4', [3]],
    ['u1', [1, 2, 3]],
    ['a1', [1, 3]],
    ['a3', [2, 3]],
    ['Quiz Taken', [1, 3]],
    ['dropped', [1, 3]],
    ['never came', [3]],
  ] as const)
    expect([text, await segmentsWith(text)]).toEqual([text, found]);
});

test('every key is found, and few where they are not', async () => {
  const ids = (name: string) => Array.from({ length: 2_000 }, (_, n) => `${name}-${n}`);
  for (const name of ['first', 'second']) {
    await write(...ids(name).map((id) => row(id, { anonymous_id: `a-${id}` })));
    await filterNewest();
  }
  const segments = (await listSegments(writer)).slice(0, 2);
  let [asked, wrong] = [0, 0];
  for (const [segment, name] of ['first', 'second'].entries())
    for (const id of ids(name).filter((_, n) => n % 4 === 0))
      for (const text of [id, `a-${id}`]) {
        const found = await withKey(writer, segments, keyOf(text));
        expect(found).toContain(segments[segment]);
        asked++;
        wrong += found.length - 1;
      }
  expect(wrong / asked).toBeLessThan(0.03);
});

test('segments without a filter, as an earlier version leaves them, are always asked', async () => {
  await write(row('e1'));
  await nextSegment();
  await write(row('e2'));
  await filterNewest();
  expect(await segmentsWith('e2')).toEqual([1, 2, 3]);
  expect(await segmentsWith('never came')).toEqual([1, 3]);
});

test('the filters of a group are removed with its last segment', async () => {
  await write(row('e1'));
  await filterNewest();
  while ((await listSegments(writer)).length < 32) await nextSegment();
  await write(row('e32'));
  await filterNewest();
  const [first, second] = [await segmentsWith('e1'), await segmentsWith('e32')];
  expect([first.includes(1), first.includes(32), second.includes(1), second.includes(32)]).toEqual([true, false, false, true]);
  const rows = (await filterRows())!;
  for (let id = 1; id < 31; id++) await dropSegment(writer, id);
  expect(await filterRows()).toBe(rows);
  await dropSegment(writer, 31);
  expect(await filterRows()).toBe(rows / 2);
  expect(await segmentsWith('e32')).toEqual([32, 33]);
});
