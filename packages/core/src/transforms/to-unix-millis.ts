import { defineTransform } from './define.ts';
import { isoMillis } from './values.ts';

export const toUnixMillis = defineTransform({
  name: 'to_unix_millis',
  summary: 'ISO 8601 time with a zone to milliseconds since 1970; anything else becomes undefined.',
  cost: { value: 600, character: 16 },
  examples: [
    ['2024-05-01T12:00:00.900Z', 1714564800900],
    ['yesterday', undefined],
  ],
  apply: (value) => isoMillis(value),
});
