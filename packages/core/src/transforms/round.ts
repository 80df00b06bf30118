import { defineTransform } from './define.ts';
import { asNumber, tidy } from './values.ts';

export const round = defineTransform({
  name: 'round',
  summary: 'A number rounded to so many decimal places, halves away from zero.',
  args: [{ name: 'places', type: 'number', default: 0, summary: '0 to 10' }],
  examples: [
    [2.5, 3],
    [1.005, 1.01, 2],
    ['19.999', 20, 2],
    [-2.5, -3],
    ['x', undefined],
  ],
  apply(value, [places]) {
    const number = asNumber(value);
    const factor = 10 ** Math.min(10, Math.max(0, Math.trunc(asNumber(places) ?? 0)));
    if (number === undefined || Number.isInteger(number)) return number;
    const scaled = tidy(Math.abs(number) * factor);
    // Numbers too large to scale have no decimal places to round.
    return scaled === undefined ? number : tidy((Math.sign(number) * Math.round(scaled)) / factor);
  },
});
