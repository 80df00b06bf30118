import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CursorState, decodeCursor, encodeCursor, firstOpen, OpenMessage, OpenMessages } from './cursor.ts';

/** What the next consumer gets: the records in `open`, and all of the messages behind `high`. */
function redelivered(state: CursorState, messages: readonly { seq: number; count: number }[]): string[] {
  const open = new Map(state.open.map(([seq, ...indexes]) => [seq, indexes]));
  return messages.flatMap(({ seq, count }) => {
    const all = Array.from({ length: count }, (_, index) => index);
    const indexes = seq > state.high ? all : open.has(seq) ? (open.get(seq)?.length ? (open.get(seq) ?? []) : all) : [];
    return indexes.map((index) => `${seq}/${index}`);
  });
}

test('whatever is settled in whatever order, a stored cursor names exactly the rest', () => {
  const stream = fc.array(fc.record({ gap: fc.integer({ min: 1, max: 3 }), count: fc.integer({ min: 1, max: 5 }) }), { maxLength: 12 });
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 60 }), fc.nat(12), (gaps, picks, readCount) => {
      let seq = 0;
      const messages = gaps.map(({ gap, count }) => ({ seq: (seq += gap), count }));
      const read = messages.slice(0, readCount);
      const open = new OpenMessages(0);
      for (const { seq: at, count } of read) open.add(new OpenMessage(at, 1_000 + at, count));
      const left = new Set(messages.flatMap(({ seq: at, count }) => Array.from({ length: count }, (_, index) => `${at}/${index}`)));
      const readable = read.flatMap(({ seq: at, count }) => Array.from({ length: count }, (_, index) => [at, index] as const));
      for (const pick of picks) {
        const [at, index] = readable[pick % readable.length] ?? [];
        if (at === undefined || index === undefined) continue;
        open.settle(at, index);
        left.delete(`${at}/${index}`);
        const state = decodeCursor(encodeCursor(open.state('owner', [], {})));
        expect(redelivered(state, messages)).toEqual([...left]);
        const first = firstOpen(state);
        for (const id of left) {
          const [s = 0, i = 0] = id.split('/').map(Number);
          expect(s > first.seq || (s === first.seq && i >= first.index)).toBe(true);
        }
      }
      expect(open.records).toBe([...left].filter((id) => read.some(({ seq: at }) => id.startsWith(`${at}/`))).length);
    }),
  );
});

test('a record that stays open for long does not make the cursor grow with what is settled behind it', () => {
  const open = new OpenMessages(0);
  open.add(new OpenMessage(1, 0, 3));
  for (let seq = 2; seq <= 10_000; seq++) {
    open.add(new OpenMessage(seq, 0, 2));
    open.settle(seq, 0);
    open.settle(seq, 1);
  }
  open.settle(1, 1);
  expect(encodeCursor(open.state('o', [], {})).toString()).toBe('{"owner":"o","high":10000,"open":[[1,0,2]]}');
});
