import { expect, test } from 'vitest';
import { type FieldFault, sentence } from './errors.ts';

const CASES: [details: FieldFault[], expected: string][] = [
  [[{ field: 'name', message: 'is required' }], 'name is required.'],
  [[{ field: '', message: 'must be an object' }], 'The body must be an object.'],
  [[{ field: 'rules[0].value', message: 'A value is needed.' }], 'rules[0].value: A value is needed.'],
  [
    [
      { field: 'rules[0].value', message: 'A value is needed.' },
      { field: 'name', message: 'is required' },
    ],
    'rules[0].value: A value is needed (and 1 more).',
  ],
];
test.each(CASES)('faults are told in one sentence: %j', (details, expected) => {
  expect(sentence(details)).toBe(expected);
});
