import { invalid } from '../../http/errors.ts';
import { timeOf } from '../../http/schema.ts';

interface Given {
  from?: string | undefined;
  to?: string | undefined;
}

/** `from` and `to` in milliseconds. Throws if the range ends before it begins. `prefix`: of the names of the fields. */
export function timeRange(given: { from: string; to: string }): { from: number; to: number };
export function timeRange(given: Given, prefix?: string): { from?: number; to?: number };
export function timeRange(given: Given, prefix = ''): { from?: number; to?: number } {
  const [from, to] = [timeOf(`${prefix}from`, given.from), timeOf(`${prefix}to`, given.to)];
  if (from !== undefined && to !== undefined && from > to) throw invalid(`${prefix}to`, `must not be before ${prefix}from`);
  return { ...(from === undefined ? {} : { from: Date.parse(from) }), ...(to === undefined ? {} : { to: Date.parse(to) }) };
}
