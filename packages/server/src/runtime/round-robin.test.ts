import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RoundRobin } from './round-robin.ts';

function filled(items: readonly string[]): RoundRobin<string> {
  const lines = new RoundRobin<string>();
  for (const item of items) lines.push(item[0] ?? '', item);
  return lines;
}
function take(lines: RoundRobin<string>, most: number): string[] {
  const taken: string[] = [];
  while (taken.length < most && lines.size > 0) taken.push(lines.next()!);
  return taken;
}

test.each<[string, string[], number, string[]]>([
  ['one line keeps its order', ['a1', 'a2', 'a3'], 2, ['a1', 'a2']],
  ['a late line overtakes a long one', ['a1', 'a2', 'a3', 'a4', 'b1'], 3, ['a1', 'b1', 'a2']],
  ['three lines take turns', ['a1', 'a2', 'b1', 'b2', 'c1'], 5, ['a1', 'b1', 'c1', 'a2', 'b2']],
  ['no more than there are', ['a1', 'b1'], 9, ['a1', 'b1']],
])('%s', (_name, items, most, taken) => expect(take(filled(items), most)).toEqual(taken));

test('the turns go on where the last take ended', () => {
  const lines = filled(['a1', 'a2', 'b1', 'b2', 'c1']);
  expect([take(lines, 1), take(lines, 1), take(lines, 3)]).toEqual([['a1'], ['b1'], ['c1', 'a2', 'b2']]);
  expect(lines.size).toBe(0);
  expect(lines.next()).toBeUndefined();
});

test('everything comes out once, in order within its line, and no line waits for more than one item of each other line', () => {
  const item = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(99)).map(([line, n]) => `${line}${n}`);
  fc.assert(
    fc.property(fc.array(item), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (items, takes) => {
      const lines = filled(items);
      const out: string[] = [];
      for (let i = 0; lines.size > 0; i++) out.push(...take(lines, takes[i % takes.length] ?? 1));
      const of = (all: string[], line: string) => all.filter((each) => each.startsWith(line));
      for (const line of ['a', 'b', 'c']) expect(of(out, line)).toEqual(of(items, line));
      for (const line of ['a', 'b', 'c']) {
        const places = out.flatMap((each, at) => (each.startsWith(line) ? [at] : []));
        for (const other of ['a', 'b', 'c'].filter((each) => each !== line))
          for (let i = 1; i < places.length; i++) expect(of(out.slice(places[i - 1], places[i]), other).length).toBeLessThanOrEqual(1);
      }
    }),
  );
});
