import { expect, test } from 'vitest';
import { Suspects } from './suspects.ts';

function suspects() {
  let now = 0;
  const all = new Suspects({ monotonic: () => now });
  return {
    all,
    pass: (ms: number) => {
      now += ms;
    },
    runs(text: string): void {
      for (const run of text) all.noteRun('pl', run === 's');
    },
  };
}

test.each([
  ['', false, false],
  ['qqqq', false, false],
  ['s', true, false],
  ['sss', true, false],
  ['ssss', true, true],
  ['sqsqsqsq', true, true],
  ['ssssqqqqq', true, false],
  ['qqqqqqqqqqqqqqqqs', true, false],
])('after the runs %j (s: slow) the line is suspect: %s, heavy: %s', (text, isSuspect, isHeavy) => {
  const { all, runs } = suspects();
  runs(text);
  expect([all.has('pl'), all.isHeavy('pl')]).toEqual([isSuspect, isHeavy]);
  expect([all.has('another'), all.isHeavy('another')]).toEqual([false, false]);
});

test('a slow run that has not ended makes its line suspect', () => {
  const { all } = suspects();
  all.add('pl');
  expect([all.has('pl'), all.isHeavy('pl')]).toEqual([true, false]);
});

test('ten seconds after the last slow run the line is clear', () => {
  const { all, pass, runs } = suspects();
  runs('ssss');
  pass(9_999);
  expect(all.isHeavy('pl')).toBe(true);
  runs('q');
  pass(1);
  expect([all.has('pl'), all.isHeavy('pl')]).toEqual([false, false]);
});
