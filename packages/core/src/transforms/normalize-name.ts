import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

export const normalizeName = defineTransform({
  name: 'normalize_name',
  summary: 'A first or last name, trimmed, in lower case, with single spaces.',
  examples: [
    ['  Anna   Maria ', 'anna maria'],
    ['ÅSE', 'åse'],
    [' ', undefined],
  ],
  apply: (value) => (isHashed(value) ? value : textOf(value)?.trim().toLowerCase().replace(/\s+/g, ' ') || undefined),
});
