/**
 * PostgreSQL and three NATS servers that flush every write, beside a single process on the embedded stores.
 *
 * `node bench/cluster.ts` runs `cost` and `throughput`. `node bench/cluster.ts idle 10000` takes the number of integrations; default 1,000.
 */
import { fileURLToPath } from 'node:url';
import { measureCost } from './cluster/cost.ts';
import { measureManyIntegrations } from './cluster/many-integrations.ts';
import { measureThroughput } from './cluster/throughput.ts';
import { describeConditions, watchConditions } from './conditions.ts';
import type { BenchResult } from './result.ts';

const DEFAULT_INTEGRATIONS = 1_000;

export async function run(parts: readonly string[] = []): Promise<BenchResult[]> {
  const asked = (part: string) => parts.length === 0 || parts.includes(part);
  const results: BenchResult[] = [];
  if (asked('cost')) results.push(...(await measureCost()));
  if (asked('throughput')) results.push(...(await measureThroughput()));
  if (parts.includes('idle'))
    results.push(...(await measureManyIntegrations(Number(parts.find((part) => /^\d+$/.test(part)) ?? DEFAULT_INTEGRATIONS))));
  return results;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const conditions = watchConditions();
  const results = await run(process.argv.slice(2));
  console.table(results);
  console.log(describeConditions(conditions()));
  if (results.some(({ ok }) => ok === false)) process.exitCode = 1;
}
