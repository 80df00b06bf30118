/** A time as a `datetime-local` field has it, in the zone of whoever reads. */
export function localTime(ms: number): string {
  const time = new Date(ms);
  return new Date(ms - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
/**
 * The time in a field. `known`: the time that it was filled with, which stays while the text does: in the hour that a clock repeats two times
 * have the same text. A text that is no time stays for the form to complain about.
 */
export function isoTime(local: string, known: string | undefined): string {
  const before = Date.parse(known ?? '');
  if (!Number.isNaN(before) && localTime(before) === local) return new Date(before).toISOString();
  return Number.isNaN(Date.parse(local)) ? local : new Date(local).toISOString();
}
