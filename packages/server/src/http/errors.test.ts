import { expect, test } from 'vitest';
import { type FieldFault, sentence } from './errors.ts';

test.each<[FieldFault[], string]>([
  [[{ field: 'name', message: 'is required' }], 'name is required.'],
  [[{ field: '', message: 'must be an object' }], 'The body must be an object.'],
  [[{ field: 'rules[0].value', message: 'A value is needed.' }], 'rules[0].value: A value is needed.'],
  [
    [
      { field: 'a.transforms[0]', message: 'There is no transform "x".' },
      { field: 'b', message: 'is unknown' },
    ],
    'a.transforms[0]: There is no transform "x" (and 1 more).',
  ],
  [[], 'The request is not valid.'],
])('a refusal reads as one sentence: %j', (faults, expected) => expect(sentence(faults)).toBe(expected));
