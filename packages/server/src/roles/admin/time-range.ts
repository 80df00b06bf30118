import { invalid } from '../../http/errors.ts';
import { timeOf } from '../../http/schema.ts';

/** `from` and `to` in milliseconds. Throws if the range ends before it begins. */
export function timeRange(given: { from: string; to: string }): { from: number; to: number };
export function timeRange(given: { from?: string | undefined; to?: string | undefined }): { from?: number; to?: number };
export function timeRange(given: { from?: string | undefined; to?: string | undefined }): { from?: number; to?: number } {
  const [from, to] = [timeOf('from', given.from), timeOf('to', given.to)];
  if (from !== undefined && to !== undefined && from > to) throw invalid('to', 'must not be before from');
  return { ...(from === undefined ? {} : { from: Date.parse(from) }), ...(to === undefined ? {} : { to: Date.parse(to) }) };
}
