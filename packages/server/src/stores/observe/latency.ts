/** Latencies are counted in buckets that grow by a tenth, so that minutes can be added up and still tell a percentile within 5 %. */
const GROWTH = Math.log(1.1);

export function latencyBucket(ms: number): number {
  return Math.min(300, Math.max(0, Math.round(Math.log(Math.max(ms, 0) + 1) / GROWTH)));
}
const middleOf = (bucket: number) => Math.round((Math.exp(bucket * GROWTH) - 1) * 10) / 10;

/** The value below which the share `q` of all counted latencies lies; null where none was counted. */
export function percentile(buckets: ReadonlyMap<number, number>, q: number): number | null {
  let total = 0;
  for (const n of buckets.values()) total += n;
  if (total === 0) return null;
  let seen = 0;
  for (const [bucket, n] of [...buckets].sort(([a], [b]) => a - b)) {
    seen += n;
    if (seen >= total * q) return middleOf(bucket);
  }
  return null;
}
