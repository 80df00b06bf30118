import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

const DATE = /^(\d{4})[-/.]?(\d\d)[-/.]?(\d\d)(?:T.*)?$/;

export const normalizeDate = defineTransform({
  name: 'normalize_date',
  summary: 'A date as YYYYMMDD, from year, month and day in that order; any other order is a guess and therefore missing.',
  cost: { value: 600, character: 16 },
  examples: [
    ['1990-03-07', '19900307'],
    ['1990-03-07T00:00:00Z', '19900307'],
    [19900307, '19900307'],
    ['07/03/1990', undefined],
    ['1990-02-31', undefined],
  ],
  apply(value) {
    if (isHashed(value)) return value;
    const [, year, month, day] = DATE.exec(textOf(value)?.trim() ?? '') ?? [];
    if (!year) return undefined;
    const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
    // JavaScript turns 31 February into a day in March.
    return date.getUTCDate() === Number(day) ? `${year}${month}${day}` : undefined;
  },
});
