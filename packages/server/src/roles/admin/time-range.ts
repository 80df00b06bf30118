import { invalid } from '../../http/errors.ts';

/** `from` and `to` of a query in milliseconds; a range that ends before it begins is a mistake. */
export function timeRange({ from, to }: { from?: string | undefined; to?: string | undefined }): { from?: number; to?: number } {
  const range = { ...(from === undefined ? {} : { from: Date.parse(from) }), ...(to === undefined ? {} : { to: Date.parse(to) }) };
  if (range.from !== undefined && range.to !== undefined && range.from > range.to) throw invalid('to', 'must not be before from');
  return range;
}
