import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tally } from '../../outcomes/tally.ts';
import { findTracesOf, removeTraces } from './erase-traces.ts';
import { kyselyWriter } from './kysely-writer.ts';
import { listTraces, type TraceFilter } from './list-traces.ts';
import { openObserve } from './open.ts';
import type { ObserveDb } from './schema.ts';
import { addSegment, listSegments } from './segments.ts';
import { type ExpiringTrace, type RowAges, sweepRows } from './sweep.ts';
import { findTrace, selectTraces, stepsOfEvents, TRACE_COLUMNS } from './traces.ts';
import { writeTally } from './write.ts';
import type { Writer } from './writer.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');
const MINUTE = 60_000;
const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-segments-'));
let observe: ObserveDb & { close(): Promise<void> };
let position = 0;

beforeAll(async () => {
  observe = await openObserve({ dataDir, onConnectionError: () => {} });
});
afterAll(async () => {
  await observe.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const attempt = { at: '', status: 200, error: null, duration_ms: 1 };
/** An event of minute `n`, and its delivery half a minute later. */
function lifeOf(n: number, more: Partial<Extract<Outcome, { kind: 'processed' }>> = {}): Outcome[] {
  const about = { org_id: 'org', pipeline_id: 'pl', event_id: `e${n}`, type: 'track' as const, event: n % 2 === 0 ? 'Even' : 'Odd' };
  const at = T0 + n * MINUTE;
  return [
    { kind: 'processed', ...about, at, received_at: at - 5, decisions: [], user_id: `u${n % 3}`, anonymous_id: `a${n % 5}`, ...more },
    {
      kind: 'delivered',
      ...about,
      at: at + MINUTE / 2,
      integration_id: n % 4 === 0 ? 'int_4' : 'int_1',
      attempt,
      received_at: at - 5,
      duration_ms: 5,
      ...(more.pipeline_id === undefined ? {} : { pipeline_id: more.pipeline_id }),
    },
  ];
}
const write = (outcomes: Outcome[]) => writeTally(kyselyWriter(observe), [tally(outcomes)], String(++position).padStart(9, '0'));
/** Begins a segment, as the writer does when one is full. */
const nextSegment = async () => addSegment(kyselyWriter(observe), await listSegments(kyselyWriter(observe)));
const list = async (filter: Partial<TraceFilter>) => listTraces(observe, { org_id: 'org', limit: 100, offset: 0, ...filter });
const ids = async (filter: Partial<TraceFilter>) => (await list(filter)).rows.map(({ event_id }) => event_id);
const ages: RowAges = { traces: 0, counters: 0, deadLetters: 0, pipelines: [], graceMs: 0 };
async function sweep(more: Partial<RowAges>) {
  let expiring: ExpiringTrace[] = [];
  for (let left = 1; left > 0; ) {
    const swept = await sweepRows(kyselyWriter(observe), { ...ages, ...more }, expiring);
    expiring = swept.expiring;
    left = swept.removed + expiring.length;
  }
}

test('lists, finds and pages events across segments, newest first', async () => {
  for (let n = 0; n < 12; n++) {
    if (n % 4 === 3) await nextSegment();
    // The delivery of an event may be in the segment after its own.
    const [processed, delivered] = lifeOf(n) as [Outcome, Outcome];
    await write([processed]);
    if (n % 4 === 2) await nextSegment();
    await write([delivered]);
  }
  const all = Array.from({ length: 12 }, (_, n) => `e${11 - n}`);
  expect(await ids({})).toEqual(all);
  expect(await ids({ pipeline_id: 'pl', limit: 5, offset: 4 })).toEqual(all.slice(4, 9));
  expect(await ids({ user_id: 'u1' })).toEqual(['e10', 'e7', 'e4', 'e1']);
  expect(await ids({ anonymous_id: 'a3' })).toEqual(['e8', 'e3']);
  expect(await ids({ from: T0 + 3 * MINUTE, to: T0 + 6 * MINUTE - 6 })).toEqual(['e5', 'e4']);
  const seen: string[] = [];
  for (let page = await list({ limit: 5 }); ; page = await list({ limit: 5, after: page.next! })) {
    seen.push(...page.rows.map(({ event_id }) => event_id));
    if (page.next === undefined) break;
  }
  expect(seen).toEqual(all);
  for (const id of all) expect(await findTrace(observe, 'org', id)).toMatchObject({ event: { event_id: id }, steps: [{ event_id: id }] });
});

test.each([
  'org_id',
  'pipeline_id',
  'user_id',
  'anonymous_id',
  'event',
  'status',
] as const)('a page of the list by %s follows an index of each segment, and sorts nothing', async (leading) => {
  const wanted = { org_id: 'org', ...(leading === 'org_id' ? {} : { [leading]: leading === 'status' ? 'dropped' : 'x' }) };
  const query = selectTraces(observe, wanted).select(TRACE_COLUMNS).orderBy('received_at', 'desc').orderBy('event_id', 'desc').limit(50);
  const { sql: text, parameters } = query.compile();
  const plan = await kyselyWriter(observe).all<{ detail: string }>(`explain query plan ${text}`, parameters);
  const steps = plan.map(({ detail }) => detail);
  expect(steps.filter((step) => step.includes('TEMP B-TREE'))).toEqual([]);
  expect(steps.filter((step) => step.startsWith('SCAN trace_events'))).toEqual([]);
});

test('searches by name, reason and delivery across segments', async () => {
  expect(await ids({ event: 'Odd' })).toEqual(['e11', 'e9', 'e7', 'e5', 'e3', 'e1']);
  expect(await list({ event: 'Odd', limit: 2 })).toMatchObject({ total: 6, atLeast: false, next: { event_id: 'e9' } });
  expect(await ids({ event: 'Odd', limit: 2, after: { received_at: T0 + 9 * MINUTE - 5, event_id: 'e9' } })).toEqual(['e7', 'e5']);
  expect(await ids({ integration_id: 'int_4' })).toEqual(['e8', 'e4', 'e0']);
  expect(await ids({ delivery: 'delivered', integration_id: 'int_4', limit: 1, offset: 1 })).toEqual(['e4']);
  expect(await ids({ delivery: 'not_delivered' })).toEqual([]);
  expect(await list({ reason: 'bot' })).toMatchObject({ rows: [], total: 0, atLeast: false });
});

test('the repeat of an event replaces its trace in an older segment', async () => {
  await write([{ ...lifeOf(1)[0]!, again: true, decisions: [{ step: 'bots', result: 'human' }] } as Outcome]);
  expect(await ids({ user_id: 'u1', to: T0 + 2 * MINUTE })).toEqual(['e1']);
  const found = await findTrace(observe, 'org', 'e1');
  expect(JSON.parse(found!.event.decisions)).toEqual([{ step: 'bots', result: 'human' }]);
});

test('erasure reaches every segment', async () => {
  const erased = await findTracesOf(observe, 'org', { user_ids: ['u2'], anonymous_ids: ['a0'] });
  await removeTraces(observe, erased);
  expect(erased.map(({ event_id }) => event_id).sort()).toEqual(['e0', 'e10', 'e11', 'e2', 'e5', 'e8']);
  expect(await ids({})).toEqual(['e9', 'e7', 'e6', 'e4', 'e3', 'e1']);
  expect(await stepsOfEvents(observe, 'org', [{ pipeline_id: 'pl', event_id: 'e2', received_at: 0 }])).toEqual([]);
});

test('retention drops whole segments, and single rows after the grace period', async () => {
  const before = (await listSegments(kyselyWriter(observe))).length;
  await sweep({ traces: T0 + 7 * MINUTE, graceMs: 30 * MINUTE });
  const segments = await listSegments(kyselyWriter(observe));
  expect(segments.length).toBeLessThan(before);
  expect(await ids({})).toEqual(expect.arrayContaining(['e9', 'e7']));
  await sweep({ traces: T0 + 9 * MINUTE });
  expect(await ids({})).toEqual(['e9']);
});

test('a pipeline with a retention of its own keeps its traces shorter or longer', async () => {
  const of = (n: number, pipeline_id: string) => lifeOf(n, { pipeline_id, raw: { topic: 'ingest.1', position: String(n) } });
  await write([...of(20, 'pl_short'), ...of(21, 'pl_long'), ...of(22, 'pl'), ...of(40, 'pl_short'), ...of(41, 'pl')]);
  const own = [
    { org_id: 'org', pipeline_id: 'pl_short', before: T0 + 39 * MINUTE },
    { org_id: 'org', pipeline_id: 'pl_long', before: T0 + 5 * MINUTE },
  ];
  const found = await sweepRows(kyselyWriter(observe), { ...ages, traces: T0 + 10 * MINUTE, pipelines: own });
  expect(found.expiring).toMatchObject([{ raw_topic: 'ingest.1', raw_position: '20', pipeline_id: 'pl_short', event_id: 'e20' }]);
  expect(await ids({ from: T0 + 20 * MINUTE - 10 })).toEqual(['e41', 'e40', 'e22', 'e21', 'e20']);
  await sweep({ traces: T0 + 10 * MINUTE, pipelines: own });
  expect(await ids({ from: T0 + 20 * MINUTE - 10 })).toEqual(['e41', 'e40', 'e22', 'e21']);
  await sweep({ traces: T0 + 30 * MINUTE, pipelines: own });
  expect(await ids({ from: T0 + 20 * MINUTE - 10 })).toEqual(['e41', 'e40', 'e21']);
});

test('traces of a version before segments are moved, and found', async () => {
  const columns = 'org_id, pipeline_id, event_id, received_at, processed_at, type, result, decisions, user_id';
  const writeOld = (id: string) =>
    sql`insert into trace_events (${sql.raw(columns)}) values ('org', 'pl', ${id}, ${T0}, ${T0}, 'track', 'processed', '[]', 'old')`.execute(
      observe.db,
    );
  await writeOld('old1');
  await writeOld('old2');
  await sql`insert into trace_steps (org_id, pipeline_id, event_id, integration_id, at, kind) values ('org', 'pl', 'old1', 'int_1', ${T0}, 'delivered')`.execute(
    observe.db,
  );
  expect(await ids({ user_id: 'old' })).toEqual([]);
  expect((await sweepRows(kyselyWriter(observe), ages)).adopted).toBe(3);
  expect(await ids({ user_id: 'old' })).toEqual(['old2', 'old1']);
  expect(await findTrace(observe, 'org', 'old1')).toMatchObject({ steps: [{ integration_id: 'int_1' }] });
  expect((await sweepRows(kyselyWriter(observe), ages)).adopted).toBe(0);
  await writeOld('old3');
  await (await openObserve({ dataDir, onConnectionError: () => {} })).close();
  expect(await ids({ user_id: 'old' })).toEqual(['old3', 'old2', 'old1']);
});

test('the steps of a page are found in its own segments and in later ones', async () => {
  const [processed, delivered] = lifeOf(50) as [Outcome, Outcome];
  await write([processed]);
  for (let n = 0; n < 3; n++) await nextSegment();
  await write([{ ...delivered, at: T0 + 90 * MINUTE }]);
  await nextSegment();
  await write(lifeOf(120));
  const { rows } = await list({ from: T0 + 49 * MINUTE });
  const of = async (id: string) =>
    (
      await stepsOfEvents(
        observe,
        'org',
        rows.filter((row) => row.event_id === id),
      )
    ).map(({ kind }) => kind);
  expect([await of('e50'), await of('e120')]).toEqual([['delivered'], ['delivered']]);
  const query = `select id from trace_segments where last_at >= ${T0 + 119 * MINUTE}`;
  expect(await kyselyWriter(observe).all(query)).toHaveLength(1);
});

test('failures of events without a trace are looked up once per segment (it was once per event and segment)', async () => {
  const retrying = (event_id: string): Outcome => ({
    kind: 'retrying',
    at: T0,
    org_id: 'org',
    pipeline_id: 'pl',
    event_id,
    type: 'track',
    integration_id: 'int_1',
    attempt: { at: '', status: 503, error: 'http_503', duration_ms: 1 },
    due_at: T0,
    received_at: T0,
    untraced: true,
  });
  for (let n = 0; n < 4; n++) {
    await write([retrying(`known${n}`)]);
    await addSegment(kyselyWriter(observe), await listSegments(kyselyWriter(observe)));
  }
  const many = Array.from({ length: 3_000 }, (_, i) => retrying(i < 4 ? `known${i}` : `new${i}`));
  let queries = 0;
  const counting = (writer: Writer): Writer => ({
    ...writer,
    all: (...query) => {
      queries++;
      return writer.all(...query);
    },
    transaction: (work) => writer.transaction((tx) => work(counting(tx))),
  });
  await writeTally(counting(kyselyWriter(observe)), [tally(many)], String(++position).padStart(9, '0'));
  expect(queries).toBeLessThan(20);
  const { rows } = await sql<{ n: number }>`select count(*) as n from all_trace_events where reason = 'untraced'`.execute(observe.db);
  expect(rows).toEqual([{ n: 3_000 }]);
});
