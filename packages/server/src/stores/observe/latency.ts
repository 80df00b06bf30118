/** Latency histogram. Buckets grow by 10 %, so percentiles are accurate within 5 % and the counts of several minutes can be added. */
const GROWTH = Math.log(1.1);

export function latencyBucket(ms: number): number {
  return Math.min(300, Math.max(0, Math.round(Math.log(Math.max(ms, 0) + 1) / GROWTH)));
}
const middleOf = (bucket: number) => Math.round((Math.exp(bucket * GROWTH) - 1) * 10) / 10;

/** The `q` percentile (0 to 1); null without samples. */
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
