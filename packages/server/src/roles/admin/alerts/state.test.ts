import { expect, test } from 'vitest';
import { type Firing, nextState } from './state.ts';

test.each([
  ['never over', [false, false], [false, false]],
  ['fires at the first check over the threshold', [true], [true]],
  ['goes on firing while the value is over', [true, true, true], [true, true, true]],
  ['one calm check does not end it', [true, false, true, false], [true, true, true, true]],
  ['three calm checks in a row end it', [true, false, false, false, false], [true, true, true, false, false]],
  ['fires again afterwards', [true, false, false, false, true], [true, true, true, false, true]],
])('%s', (_name, over, expected) => {
  let state: Firing = { firing: false, calm: 0 };
  expect(over.map((now) => (state = nextState(state, now)).firing)).toEqual(expected);
});
