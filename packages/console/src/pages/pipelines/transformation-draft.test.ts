import { expect, test } from 'vitest';
import { draftOf, isChanged, orderedDraft, savedDraft, type Transformation } from './transformation-draft.ts';

const stored: Transformation = {
  id: 'trf_1',
  name: 'Tidy',
  kind: 'code',
  rules: [],
  code: 'a',
  enabled: true,
  event_filter: null,
  updated_at: '2026-01-01T00:00:00.000Z',
};

test('code typed while a save is on its way stays, and starts from the saved version', () => {
  const sent = { ...draftOf(stored), code: 'ab' };
  const saved = { ...stored, code: 'ab', updated_at: '2026-01-02T00:00:00.000Z' };
  const untouched = savedDraft(sent, sent, saved);
  expect([untouched.code, isChanged(untouched)]).toEqual(['ab', false]);
  const typedOn = savedDraft(sent, { ...sent, code: 'abc' }, saved);
  expect([typedOn.code, isChanged(typedOn), typedOn.stored.updated_at]).toEqual(['abc', true, saved.updated_at]);
});
test('one’s own reorder is no conflict, and somebody else’s change of the code still is', () => {
  const draft = { ...draftOf(stored), code: 'mine' };
  const stamped = { ...stored, updated_at: '2026-01-02T00:00:00.000Z' };
  expect(orderedDraft(draft, stamped)).toMatchObject({ code: 'mine', stored: { updated_at: stamped.updated_at } });
  expect(orderedDraft(draft, { ...stamped, code: 'theirs' }).stored.updated_at).toBe(stored.updated_at);
});
test('the events of a filter are part of the draft', () => {
  const filtered = draftOf({ ...stored, event_filter: { event_names: ['Order Completed'] } });
  expect([filtered.events, isChanged(filtered), isChanged({ ...filtered, events: [] })]).toEqual([['Order Completed'], false, true]);
});
