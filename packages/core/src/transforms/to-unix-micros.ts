import { defineTransform } from './define.ts';
import { isoMillis } from './values.ts';

export const toUnixMicros = defineTransform({
  name: 'to_unix_micros',
  summary: 'ISO 8601 time with a zone to microseconds since 1970; anything else becomes undefined.',
  cost: { value: 600, character: 16 },
  examples: [
    ['2024-05-01T12:00:00.900Z', 1714564800900000],
    [12, undefined],
  ],
  apply(value) {
    const ms = isoMillis(value);
    return ms === undefined ? undefined : ms * 1000;
  },
});
