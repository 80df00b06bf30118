import { defineTransform } from './define.ts';
import { asNumber, isoMillis } from './values.ts';

const LAST_MS = 8_640_000_000_000_000;

export const toIso8601 = defineTransform({
  name: 'to_iso8601',
  summary:
    'A time as ISO 8601 in UTC with milliseconds: from ISO 8601 with a zone, or from seconds, milliseconds or microseconds since 1970 (told apart by size).',
  cost: { value: 600, character: 16 },
  examples: [
    ['2024-05-01T14:00:00+02:00', '2024-05-01T12:00:00.000Z'],
    [1714564800, '2024-05-01T12:00:00.000Z'],
    ['1714564800900', '2024-05-01T12:00:00.900Z'],
    [1714564800900000, '2024-05-01T12:00:00.900Z'],
    ['soon', undefined],
    ['2024-02-30T12:00:00Z', undefined],
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
  ],
  apply(value) {
    const ms = isoMillis(value) ?? fromNumber(asNumber(value));
    return ms === undefined || Math.abs(ms) > LAST_MS ? undefined : new Date(ms).toISOString();
  },
});

function fromNumber(number: number | undefined): number | undefined {
  if (number === undefined) return undefined;
  const size = Math.abs(number);
  return Math.trunc(size < 1e11 ? number * 1000 : size < 1e14 ? number : number / 1000);
}
