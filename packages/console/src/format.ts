/** Numbers and times as the console shows them. */
const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const number = (value: number): string => whole.format(value);
export const events = (count: number): string => `${number(count)} ${count === 1 ? 'event' : 'events'}`;
/** For narrow places: 12.3K. */
export const short = (value: number): string => (value < 10_000 ? whole.format(value) : compact.format(value));

export function milliseconds(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s` : `${(ms / 3_600_000).toFixed(1)} h`;
}
/** `14:02:11.482`, with the date where it is not today: `12 May 14:02:11.482`. Written by hand: the events list formats a time per row, and the locale's formatter is a hundred times slower. */
export function clockTime(iso: string, now: Date = new Date()): string {
  const time = new Date(iso);
  const two = (part: number): string => String(part).padStart(2, '0');
  const whole = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  const exact = `${whole}.${String(time.getMilliseconds()).padStart(3, '0')}`;
  const sameYear = time.getFullYear() === now.getFullYear();
  if (sameYear && time.getMonth() === now.getMonth() && time.getDate() === now.getDate()) return exact;
  return `${time.getDate()} ${MONTHS[time.getMonth()]} ${sameYear ? '' : `${time.getFullYear()} `}${exact}`;
}
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** On the axis of a chart: `14:00`, and at midnight the day, `19 May`. */
export function axisTime(seconds: number): string {
  const time = new Date(seconds * 1_000);
  const text = clockTime(time.toISOString(), time).slice(0, 'hh:mm'.length);
  return text === '00:00' ? `${time.getDate()} ${MONTHS[time.getMonth()]}` : text;
}
/** For a title: the whole time with its zone. */
export const zonedTime = (iso: string): string => new Date(iso).toLocaleString('en-GB', { dateStyle: 'full', timeStyle: 'long' });
export function dateTime(iso: string): string {
  return new Date(iso).toLocaleString('en-GB', {
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}
/** How long ago, in one word and number. */
export function ago(iso: string, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(iso)) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}
export function bytes(count: number): string {
  return count < 1_024 ? `${count} B` : count < 1_048_576 ? `${(count / 1_024).toFixed(1)} KB` : `${(count / 1_048_576).toFixed(1)} MB`;
}
/** The change from one number to the next, in per cent; undefined where there is nothing to compare with. */
export function change(now: number, before: number): string | undefined {
  if (before === 0) return undefined;
  const percent = Math.round(((now - before) / before) * 100);
  return `${percent >= 0 ? '+' : '−'}${Math.abs(percent)} %`;
}
export function perMinute(rate: number): string {
  return `${rate > 0 && rate < 10 ? rate.toFixed(1) : number(Math.round(rate))} / min`;
}
/** `7 days`, `24 hours`, `10 minutes`: the largest unit that divides well. */
export function duration(seconds: number): string {
  for (const [unit, length] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const)
    if (seconds >= length) {
      const count = Math.round((seconds / length) * 10) / 10;
      return `${count} ${unit}${count === 1 ? '' : 's'}`;
    }
  return `${seconds} seconds`;
}
