/** One figure of a benchmark. `floor` is the bound, `ok` whether the figure meets it. */
export interface BenchResult {
  name: string;
  value: number;
  unit: string;
  floor?: number;
  ok?: boolean;
}
const round = (value: number) => Math.round(value * 100) / 100;

export function figure(name: string, value: number, unit: string): BenchResult {
  return { name, value: round(value), unit };
}
export function atLeast(name: string, value: number, unit: string, floor: number): BenchResult {
  return { name, value: round(value), unit, floor, ok: Number.isFinite(value) && value >= floor };
}
export function atMost(name: string, value: number, unit: string, ceiling: number): BenchResult {
  return { name: `${name} (at most ${ceiling})`, value: round(value), unit, ok: value <= ceiling };
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Prints the figures. The process exits with 1 if one misses its bound. */
export function report(results: readonly BenchResult[]): void {
  for (const { name, value, unit, floor, ok } of results)
    console.log(`${ok === false ? 'FAILED ' : ''}${name}: ${value} ${unit}${floor === undefined ? '' : ` (at least ${floor})`}`);
  if (results.some(({ ok }) => ok === false)) process.exitCode = 1;
}
