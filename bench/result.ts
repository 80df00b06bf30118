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
  return { name, value: round(value), unit, floor, ok: value >= floor };
}
export function atMost(name: string, value: number, unit: string, ceiling: number): BenchResult {
  return { name: `${name} (at most ${ceiling})`, value: round(value), unit, ok: value <= ceiling };
}
