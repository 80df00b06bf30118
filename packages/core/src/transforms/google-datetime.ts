import { defineTransform } from './define.ts';
import { isoMillis } from './values.ts';

const LOCAL = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::(\d\d))?[\d.]*(Z|[+-]\d\d:\d\d)$/;

export const googleDatetime = defineTransform({
  name: 'google_datetime',
  summary: 'ISO 8601 time with a zone as Google Ads writes it, `yyyy-MM-dd HH:mm:ss±hh:mm`; the zone stays the one that was sent.',
  cost: { value: 600, character: 16 },
  examples: [
    ['2024-05-01T12:00:00.900Z', '2024-05-01 12:00:00+00:00'],
    ['2024-05-01T14:00:00+02:00', '2024-05-01 14:00:00+02:00'],
    ['2024-05-01', undefined],
  ],
  apply(value) {
    const match = isoMillis(value) === undefined ? null : LOCAL.exec(value as string);
    if (!match) return undefined;
    const [, date, time, seconds = '00', zone] = match;
    return `${date} ${time}:${seconds}${zone === 'Z' ? '+00:00' : zone}`;
  },
});
