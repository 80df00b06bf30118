import { invalid } from '../../http/errors.ts';
import { timeOf } from '../../http/schema.ts';

interface Given {
  from?: string | undefined;
  to?: string | undefined;
}

const DAY = 86_400_000;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** `from` and `to` in milliseconds, both inclusive. A date without a time is that whole day in UTC. Throws if the range ends before it begins. `prefix`: of the names of the fields. */
export function timeRange(given: { from: string; to: string }): { from: number; to: number };
export function timeRange(given: Given, prefix?: string): { from?: number; to?: number };
export function timeRange(given: Given, prefix = ''): { from?: number; to?: number } {
  const from = momentOf(`${prefix}from`, given.from);
  const start = momentOf(`${prefix}to`, given.to);
  const to = start !== undefined && DATE.test(given.to ?? '') ? start + DAY - 1 : start;
  if (from !== undefined && to !== undefined && from > to) throw invalid(`${prefix}to`, `must not be before ${prefix}from`);
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

function momentOf(field: string, text: string | undefined): number | undefined {
  const time = timeOf(field, text);
  return time === undefined ? undefined : Date.parse(time);
}
