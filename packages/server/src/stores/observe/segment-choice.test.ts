import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tally } from '../../outcomes/tally.ts';
import { keyOf } from './keys.ts';
import { kyselyWriter } from './kysely-writer.ts';
import { listTraces, type TraceFilter } from './list-traces.ts';
import { openObserve } from './open.ts';
import type { ObserveDb } from './schema.ts';
import { newestTraces, orAll, stepsOf, tracesBetween } from './segment-choice.ts';
import { addFilter } from './segment-filters.ts';
import { addSegment, dropSegment, listSegments } from './segments.ts';
import { openSqliteWriter } from './sqlite-writer.ts';
import { OBSERVE_FILE } from './tables.ts';
import { findTrace, stepsOfEvents } from './traces.ts';
import { writeTally } from './write.ts';

const HOUR = 3_600_000;
const T0 = Date.parse('2026-01-01T00:00:00.000Z');
let dataDir: string;
let observe: ObserveDb & { close(): Promise<void> };
const writer = () => kyselyWriter(observe);
let position = 0;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'firsthand-segment-choice-'));
  observe = await openObserve({ dataDir, onConnectionError: () => {} });
});
afterEach(async () => {
  await observe.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const nextSegment = async () => addSegment(writer(), await listSegments(writer()));
const write = (outcomes: Outcome[]) => writeTally(writer(), [tally(outcomes)], String(++position).padStart(9, '0'));
const about = (id: string) => ({ org_id: 'org', pipeline_id: 'pl', event_id: id, type: 'track' as const, event: 'Quiz Taken' });
const processed = (id: string, received_at: number, at = received_at): Outcome => ({
  kind: 'processed',
  ...about(id),
  at,
  received_at,
  decisions: [],
  user_id: 'u1',
});
const attempt = { at: '', status: 200, error: null, duration_ms: 1 };
const delivered = (id: string, received_at: number, at: number): Outcome => ({
  kind: 'delivered',
  ...about(id),
  at,
  received_at,
  integration_id: 'int_1',
  attempt,
  duration_ms: at - received_at,
});
const ids = async (filter: Partial<TraceFilter>) =>
  (await listTraces(observe, { org_id: 'org', limit: 100, offset: 0, ...filter })).rows.map(({ event_id }) => event_id);
/** The segments that a query on this source reads. */
function segmentsIn(source: 'trace_events' | 'trace_steps' | undefined): number[] | 'all' {
  if (source === undefined) return [];
  const { sql } = observe.db.selectFrom(source).selectAll().compile();
  if (/from "all_trace/.test(sql)) return 'all';
  return [...sql.matchAll(/from trace_(?:events|steps)_(\d+)/g)].map(([, id]) => Number(id)).sort((a, b) => a - b);
}

const received = (...hour: number[]) => hour.map((n) => ({ pipeline_id: 'pl', event_id: `e${n}`, received_at: T0 + n * HOUR }));

/** One segment for each hour, with one event and its delivery. */
async function hours(count: number): Promise<number[]> {
  const made: number[] = [];
  for (let n = 0; n < count; n++) {
    if (n > 0) await nextSegment();
    const at = T0 + n * HOUR;
    await write([processed(`e${n}`, at), delivered(`e${n}`, at, at + 1_000)]);
    made.push((await listSegments(writer())).at(-1)!.id);
  }
  return made;
}

test('a list reads the segments of its time, and the newest first', async () => {
  const made = await hours(20);
  expect(segmentsIn(await tracesBetween(observe, { from: T0 + 3 * HOUR, to: T0 + 4 * HOUR }))).toEqual(made.slice(3, 5));
  expect(segmentsIn(await stepsOf(observe, received(3, 4)))).toEqual(made.slice(3, 5));
  const asked: (number[] | 'all')[] = [];
  for await (const { source } of newestTraces(observe, { to: T0 + 15 * HOUR })) asked.push(segmentsIn(source));
  expect(asked).toEqual([made.slice(14, 16), made.slice(4, 16), made.slice(0, 16)]);
});

test('a list by an id, a name or a result reads the full segments that have it, and the newest', async () => {
  const made = await hours(6);
  for (const id of made.slice(0, -1)) {
    const table = `trace_events_${id}`;
    await writer().run(`update ${table} set user_key = ?, user_id = 'u2', name_key = null, event = null where ? % 2 = 0`, [
      keyOf('u2'),
      id,
    ]);
  }
  const direct = openSqliteWriter(join(dataDir, OBSERVE_FILE));
  for (const id of made.slice(0, -1)) await direct.transaction((tx) => addFilter(tx, { id, events: 100, table: `trace_events_${id}` }));
  direct.close();
  const even = made.slice(0, -1).filter((id) => id % 2 === 0);
  const asked = async (text: string) => segmentsIn(await tracesBetween(observe, {}, keyOf(text)));
  expect(await asked('u2')).toEqual([...even, made.at(-1)]);
  expect(await asked('u1')).toEqual(made.filter((id) => !even.includes(id)));
  expect(await asked('e3')).toEqual([made[3], made.at(-1)]);
  expect(await ids({ user_id: 'u2' })).toHaveLength(even.length);
  expect(await ids({ user_id: 'u1' })).toHaveLength(6 - even.length);
  expect(await ids({ user_id: 'u1', limit: 3 })).toEqual(['e5', 'e4', 'e2']);
  expect(await ids({ event: 'Quiz Taken' })).toHaveLength(6 - even.length);
  expect(await ids({ event: 'Nothing' })).toEqual([]);
  expect(await ids({ status: 'dropped' })).toEqual([]);
  expect(await findTrace(observe, 'org', 'e3')).toMatchObject({ event: { event_id: 'e3' }, steps: [{ event_id: 'e3' }] });
  expect(await findTrace(observe, 'org', 'nothing')).toBeUndefined();
});

test('the steps of events far apart are read from their own segments', async () => {
  const made = await hours(8);
  const steps = await stepsOf(observe, received(1, 6));
  expect(segmentsIn(steps)).toEqual([made[1], made[6]]);
  expect(await stepsOfEvents(observe, 'org', received(1, 6))).toMatchObject([{ event_id: 'e1' }, { event_id: 'e6' }]);
  expect(await stepsOf(observe, received(9))).toBeUndefined();
  expect(await stepsOfEvents(observe, 'org', received(9))).toEqual([]);
});

test('a segment that is added or dropped between two queries is known to the second', async () => {
  const made = await hours(3);
  const upTo = async (hour: number) => segmentsIn(await tracesBetween(observe, { from: T0 + HOUR, to: T0 + hour * HOUR }));
  expect(await upTo(9)).toEqual(made.slice(1));
  // The newest segment grows, and another follows it.
  await write([processed('later', T0 + 3 * HOUR)]);
  await nextSegment();
  await write([processed('last', T0 + 4 * HOUR)]);
  const added = (await listSegments(writer())).at(-1)!.id;
  expect(await upTo(9)).toEqual([...made.slice(1), added]);
  expect(segmentsIn(await tracesBetween(observe, { from: T0 + 3 * HOUR, to: T0 + 3 * HOUR }))).toEqual([made[2]]);
  await dropSegment(writer(), made[1]!);
  expect(await upTo(9)).toEqual([made[2], added]);
  expect(await ids({ user_id: 'u1' })).toEqual(['last', 'later', 'e2', 'e0']);
});

test('the total counts the events of all segments', async () => {
  await hours(20);
  for (const filter of [{}, { pipeline_id: 'pl' }, { event: 'Quiz Taken' }, { user_id: 'u1' }])
    expect(await listTraces(observe, { org_id: 'org', ...filter, limit: 5, offset: 0 })).toMatchObject({ total: 20, atLeast: false });
});

test('a step of an old event in a new segment is found', async () => {
  const made = await hours(8);
  await write([delivered('e1', T0 + HOUR, T0 + 8 * HOUR)]);
  expect(segmentsIn(await stepsOf(observe, received(1)))).toEqual([made[1], made[7]]);
  const steps = await stepsOfEvents(observe, 'org', received(1));
  expect(steps.map(({ at }) => at)).toEqual([T0 + HOUR + 1_000, T0 + 8 * HOUR]);
});

test('steps written after the clock went back an hour are found', async () => {
  await hours(3);
  // Received before the clock went back, delivered after it.
  await nextSegment();
  await write([delivered('e2', T0 + 2 * HOUR, T0 + HOUR)]);
  const steps = await stepsOfEvents(observe, 'org', received(2));
  expect(steps.map(({ at }) => at)).toEqual([T0 + HOUR, T0 + 2 * HOUR + 1_000]);
});

test('steps of a replay, which has a later time than its event, are found', async () => {
  const made = await hours(3);
  await nextSegment();
  await write([{ ...delivered('e1', T0 + 5 * HOUR, T0 + 5 * HOUR), replay: true } as Outcome]);
  const steps = await stepsOfEvents(observe, 'org', received(1));
  expect(steps.map(({ at }) => at)).toEqual([T0 + HOUR + 1_000, T0 + 5 * HOUR]);
  expect(segmentsIn(await stepsOf(observe, received(0)))).toEqual([made[0], made[2]! + 1]);
});

test('segments of a version that did not note the newest event of steps are read for all later times', async () => {
  const made = await hours(3);
  await writer().run('update trace_segments set steps_last = null where id >= ?', [made[1]]);
  await write([delivered('e2', T0 + 2 * HOUR, T0 + 3 * HOUR)]);
  expect(segmentsIn(await stepsOf(observe, received(9)))).toEqual(made.slice(1));
});

test('a segment to which an earlier version has written is always read', async () => {
  const made = await hours(6);
  const newest = made.at(-1);
  // As a version without the ranges notes an event of the first hour.
  const early = T0 + HOUR / 2;
  await writer().run(
    `insert into trace_events_${newest} (org_id, pipeline_id, event_id, received_at, processed_at, type, result, event_key, decisions_key)
      values ('org', 'pl', 'earlier', ?, ?, 'track', 'processed', 1, 1)`,
    [early, T0 + 6 * HOUR],
  );
  await writer().run('update trace_segments set events = events + 1, last_at = ? where id = ?', [T0 + 6 * HOUR, newest]);
  const first = async () => segmentsIn(await tracesBetween(observe, { to: early }));
  expect(await first()).toEqual([made[0], newest]);
  expect(await ids({ to: early })).toEqual(['earlier', 'e0']);
  // It stays so when this version writes to it again.
  await write([processed('later', T0 + 6 * HOUR, T0 + 7 * HOUR)]);
  expect(await first()).toEqual([made[0], newest]);
});

test('a segment that retention drops meanwhile costs a second query, and no error', async () => {
  const query = async (source: string) => {
    if (source === 'gone') throw new Error('no such table: trace_events_1');
    return `read ${source}`;
  };
  expect(await orAll('gone', 'all', query)).toBe('read all');
  await expect(
    orAll('other', 'all', async () => {
      throw new Error('disk I/O error');
    }),
  ).rejects.toThrow('disk I/O error');
});

test('pages of any size list every event once, newest first, however late events were processed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ hour: fc.integer({ min: 0, max: 8 }), next: fc.boolean() }), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      async (events, limit) => {
        await nextSegment();
        const from = T0 + ++position * 1_000 * HOUR;
        const made: { id: string; received: number }[] = [];
        for (const [n, { hour, next }] of events.entries()) {
          const one = { id: `p${position}-${String(n).padStart(2, '0')}`, received: from + hour * HOUR };
          made.push(one);
          await write([processed(one.id, one.received, from + n)]);
          if (next) await nextSegment();
        }
        const expected = made.toSorted((a, b) => b.received - a.received || (a.id < b.id ? 1 : -1)).map(({ id }) => id);
        for (const more of [{}, { user_id: 'u1' }, { event: 'Quiz Taken', status: 'processed' as const }]) {
          const seen: string[] = [];
          let after: TraceFilter['after'];
          do {
            const page = await listTraces(observe, { org_id: 'org', from, limit, offset: 0, ...more, ...(after && { after }) });
            seen.push(...page.rows.map(({ event_id }) => event_id));
            after = page.next;
          } while (after !== undefined);
          expect(seen).toEqual(expected);
        }
      },
    ),
    { numRuns: 15 },
  );
});
