import { expect, test } from 'vitest';
import { about, aDeadLetter, newIntegration } from '../../roles/admin/testing/outcomes.ts';
import { onStory } from '../../roles/admin/testing/story.ts';
import { storedId, storedName, storedReason } from './stored-text.ts';

/** Three bytes each, and no compression makes them fewer. */
const wide = (length: number, first = 0) =>
  Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + ((first + at * 7_919) % 20_000))).join('');

test.each([
  ['short', 'a', 'b'],
  ['1,024 letters', 'u'.repeat(1_024), `${'u'.repeat(1_023)}v`],
  ['2,000 bytes', `${wide(666)}ab`, `${wide(666)}ac`],
  ['2,001 bytes', wide(667), `${wide(666)}a`],
  ['alike but for their end', `${wide(1_023)}a`, `${wide(1_023)}b`],
  ['pairs of surrogates', '😀'.repeat(600), `${'😀'.repeat(599)}😁`],
  ['half a pair at the cut', `a${'😀'.repeat(600)}`, `ab${'😀'.repeat(600)}`],
])('ids fit an index and stay different: %s', (_name, one, other) => {
  expect(storedId(one)).not.toBe(storedId(other));
  for (const text of [one, other]) {
    for (const stored of [storedId(text), storedReason(text)]) {
      expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(2_000);
      expect(stored.isWellFormed()).toBe(true);
    }
    expect(storedId(text)).not.toContain('\ufffd');
    expect(storedId(storedId(text))).toBe(storedId(text));
    if (Buffer.byteLength(text) <= 2_000) expect(storedId(text)).toBe(text);
  }
});
test('what PostgreSQL cannot store is replaced', () => {
  for (const stored of [storedId, storedName, storedReason]) expect(stored('a\u0000b\ud800')).toBe('a\ufffdb\ufffd');
});

onStory('long texts of events', (story) => {
  const found = async (path: string) => (await story.got(path)).total;

  // On PostgreSQL an index refused such a row, and with it the transaction: nothing was recorded any more, of any organisation.
  test.each([
    ['user_id', wide(1_024), wide(1_024, 1)],
    ['anonymous_id', wide(1_024), wide(1_024, 1)],
    ['user_id', 'u'.repeat(1_024), 'u'.repeat(1_023)],
    ['anonymous_id', 'a'.repeat(1_024), 'a'.repeat(1_023)],
  ] as const)('an event with a %s of 1,024 characters is recorded, found and erased (%#)', async (field, id, other) => {
    const { pipeline, integration } = await newIntegration(story);
    const at = Date.now();
    for (const each of [id, other]) {
      const event = { ...about(story, pipeline), at, [field]: each };
      const dead_letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at });
      const letter = { ...dead_letter, event: { ...dead_letter.event, [field]: each } } as typeof dead_letter;
      await story.record(
        { kind: 'processed', received_at: at, decisions: [], ...event },
        { kind: 'dead_lettered', dead_letter: letter, ...event },
      );
    }
    const one = `events?pipeline_id=${pipeline}&${field}=${encodeURIComponent(id)}`;
    expect([await found(`events?pipeline_id=${pipeline}`), await found(one)]).toEqual([2, 1]);
    const { status, body } = await story.call('POST', 'privacy/erasure', { [field]: id });
    expect([status, body]).toEqual([200, expect.objectContaining({ traces: 1, dead_letters: 1 })]);
    expect([await found(`events?pipeline_id=${pipeline}`), await found(`dlq?pipeline_id=${pipeline}`)]).toEqual([1, 1]);
  });

  test('a dead letter with a long reason, and a drop that names a long target, are recorded', async () => {
    const { pipeline, integration } = await newIntegration(story);
    const at = Date.now();
    const event = { ...about(story, pipeline), at };
    const dead_letter = aDeadLetter(story, { pipeline, integration, event_id: event.event_id, at, reason: wide(1_000) });
    const drop = { integration_id: integration, reason: `missing_required:${wide(1_000)}`, received_at: at } as const;
    await story.record({ kind: 'dead_lettered', dead_letter, ...event }, { kind: 'dropped', ...drop, ...about(story, pipeline), at });
    const { groups } = await story.got(`dlq/groups?pipeline_id=${pipeline}`);
    expect(groups).toMatchObject([{ reason: expect.stringMatching(/^[^\ufffd]{600,}$/), count: 1 }]);
    expect(await found(`dlq?pipeline_id=${pipeline}&reason=${encodeURIComponent(`${groups[0]?.reason}`)}`)).toBe(1);
    expect(Object.values((await story.got(`stats?integration_id=${integration}`)).totals.dropped as object)).toEqual([1]);
  });
});
