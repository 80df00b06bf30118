import { expect, test } from 'vitest';
import { builtBy, differencesOf, sentBy } from './sent-by.ts';

const at = '2026-05-01T12:00:01.000Z';
const attempt = (revision_number: number | null) => ({ at, duration_ms: 1_000, revision_number });

test('a request is rebuilt by the revision of each attempt, at the time it was sent', () => {
  const sent = sentBy({ revision_number: 3, attempts: [attempt(2), attempt(2), attempt(3)] });
  const sentAt = Date.parse('2026-05-01T12:00:00.000Z');
  expect(sent).toEqual([
    { revision: 2, attempts: [1, 2], at: sentAt },
    { revision: 3, attempts: [3], at: sentAt },
  ]);
  expect(sent.map((each) => builtBy(each, 3))).toEqual([
    'Built by revision 2, which sent it. Revision 3 is pinned now. Attempt 1, 2.',
    'Built by revision 3, which sent it. Attempt 3.',
  ]);
});
test('an attempt of an earlier version, which recorded no revision, is rebuilt by the pinned one and says so', () => {
  const [sent] = sentBy({ revision_number: null, attempts: [attempt(null)] });
  expect(sent && builtBy(sent, 5)).toBe('Built by revision 5, which is pinned now: the revision that sent it was not recorded. Attempt 1.');
});
test('an event that was not sent says so', () => {
  const [dropped] = sentBy({ revision_number: 2, attempts: [] });
  const [waiting] = sentBy({ revision_number: null, attempts: [] });
  expect(dropped && builtBy(dropped, 3)).toBe('Built by revision 2, which decided about it. Revision 3 is pinned now. Nothing was sent.');
  expect(waiting && builtBy(waiting, 3)).toBe('Built by revision 3, which is pinned now. Nothing was sent.');
});
test('what may differ is named: parameters only where they are used, and whether the pipeline changed since', () => {
  const sent = { revision: 1, attempts: [1], at: Date.parse(at) };
  const facts = { usesParameters: false, pipelineChangedAt: '2026-05-02T12:00:00.000Z', isBatched: false, keepsBatches: false };
  expect(differencesOf(sent, facts).join(' ')).not.toContain('parameters');
  expect(differencesOf(sent, { ...facts, usesParameters: true }).join(' ')).toContain('those of now');
  const unchanged = { ...facts, usesParameters: true, pipelineChangedAt: '2026-04-02T12:00:00.000Z' };
  expect(differencesOf(sent, unchanged).join(' ')).toContain('have not changed since');
  expect(differencesOf(sent, { ...facts, isBatched: true }).join(' ')).toContain('other events');
});
