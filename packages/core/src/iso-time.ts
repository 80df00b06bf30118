/** Minutes that are remembered: an event has a few times that are close to each other, and so have the events around it. */
const SLOTS = 64;
const MINUTE_MS = 60_000;
const minutes = new Float64Array(SLOTS).fill(Number.NaN);
const texts = new Array<string>(SLOTS).fill('');
const twoDigits = Array.from({ length: 60 }, (_, n) => `${n}`.padStart(2, '0'));
const threeDigits = Array.from({ length: 1_000 }, (_, n) => `${n}`.padStart(3, '0'));

/** `new Date(ms).toISOString()`, which takes ten times as long. `ms` is a time that a `Date` can hold. */
export function isoTime(ms: number): string {
  const whole = Math.trunc(ms);
  const minute = Math.floor(whole / MINUTE_MS);
  const slot = minute & (SLOTS - 1);
  if (minutes[slot] !== minute) {
    texts[slot] = new Date(whole).toISOString().slice(0, -'00.000Z'.length);
    minutes[slot] = minute;
  }
  const rest = whole - minute * MINUTE_MS;
  const second = Math.floor(rest / 1_000);
  return `${texts[slot]}${twoDigits[second]}.${threeDigits[rest - second * 1_000]}Z`;
}
