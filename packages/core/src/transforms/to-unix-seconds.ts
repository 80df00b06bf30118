import { defineTransform } from './define.ts';
import { isoMillis } from './values.ts';

export const toUnixSeconds = defineTransform({
  name: 'to_unix_seconds',
  summary: 'ISO 8601 time with a zone to whole seconds since 1970; anything else becomes undefined.',
  cost: { value: 600, character: 16 },
  examples: [
    ['2024-05-01T12:00:00.900Z', 1714564800],
    ['2024-05-01T14:00:00+02:00', 1714564800],
    ['2024-05-01T12:00:00', undefined],
    ['2023-02-29T12:00:00Z', undefined],
    [null, undefined],
  ],
  apply(value) {
    const ms = isoMillis(value);
    return ms === undefined ? undefined : Math.floor(ms / 1000);
  },
});
