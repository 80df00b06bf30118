import { expect, test } from 'vitest';
import type { LiveFrame } from '../../live/connection.ts';
import { fill, fold, forget, type LiveRows, newestFirst } from './live-rows.ts';
import { mergeLive, type Row } from './rows.ts';

const frame = (event_id: string, more: Partial<LiveFrame> = {}): LiveFrame => ({
  time: '2026-05-01T10:00:00.000Z',
  seq: 1,
  stage: 'received',
  pipeline_id: 'pl_1',
  integration_id: null,
  event_id,
  type: 'track',
  event: 'Order Completed',
  reason: null,
  duration_ms: null,
  status: null,
  payload: null,
  ...more,
});
const folded = (...frames: LiveFrame[]): LiveRows => {
  const rows: LiveRows = new Map();
  for (const each of frames) fold(rows, each, 0);
  return rows;
};
const shown = (rows: LiveRows, listed: Row[] = []) => mergeLive(newestFirst(rows), listed).map(({ event_id }) => event_id);
const delivered = { integration_id: 'int_1', stage: 'delivered' } as const;

test('an old event that is retried or replayed is not shown as a new one', () => {
  expect(shown(folded(frame('new'), frame('old', delivered)))).toEqual(['new']);
});
test('a retry moves the mark of an event that is listed, and one told of by its integration first is shown once it is received', () => {
  const rows = folded(frame('a', delivered));
  const listed = newestFirst(folded(frame('a')));
  expect(mergeLive(newestFirst(rows), listed)).toMatchObject([{ verdicts: [{ integration_id: 'int_1', status: 'delivered' }] }]);
  fold(rows, frame('a'), 0);
  expect(mergeLive(newestFirst(rows), [])).toMatchObject([{ event_id: 'a', verdicts: [{ status: 'delivered' }] }]);
});
test('the same id in two pipelines is two events', () => {
  const rows = folded(frame('a'), frame('a', { pipeline_id: 'pl_2' }));
  expect(newestFirst(rows).map(({ pipeline_id }) => pipeline_id)).toEqual(['pl_2', 'pl_1']);
});
test('events that were missed are filled in where they belong, without repeating the others', () => {
  const rows = folded(frame('before'), frame('after', { time: '2026-05-01T10:00:09.000Z' }));
  const listed = newestFirst(folded(frame('missed', { time: '2026-05-01T10:00:05.000Z' }), frame('before')));
  fill(rows, listed, 1);
  expect(shown(rows)).toEqual(['after', 'missed', 'before']);
});
test('a full page lets its oldest row go and says so, as the list then has a gap', () => {
  const rows: LiveRows = new Map();
  const kept = Array.from({ length: 2_001 }, (_, at) => fold(rows, frame(`e${at}`), at));
  expect([kept.indexOf(false), rows.size, rows.has('pl_1 e0')]).toEqual([2_000, 2_000, false]);
});
test('after the list was read anew only the newest rows stay', () => {
  const rows: LiveRows = new Map();
  fold(rows, frame('old'), 1_000);
  fold(rows, frame('new'), 9_000);
  forget(rows, 5_000);
  expect(shown(rows)).toEqual(['new']);
});
