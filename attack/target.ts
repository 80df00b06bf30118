/** A service under attack, and what the attack did to it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { watchMemory } from '../e2e/faults/kit/measure.ts';
import { type Client, pipelineTo, signIn } from '../e2e/harness/client.ts';
import { type Service, startService } from '../e2e/harness/service.ts';

export interface Target {
  service: Service;
  client: Client;
  /** A pipeline whose organisation detects every kind of personal data. */
  key: string;
  pipelineId: string;
  port: number;
}
export interface Report {
  cases: number;
  /** The round with which a further slice continues. */
  next: number;
  /** How often each status, or `closed`, was the answer. */
  answers: Map<string, number>;
  /** Cases whose answer was not the wanted one. */
  faults: string[];
  /** Longest stall of the event loop in ms: by the clock, and by its own processor time, with the step of the latter. */
  stall: { wall: number; cpu: number; step?: string };
  /** Highest private memory of the process in MB; 0 on systems without `/proc`. */
  peakMb: number;
}
export interface Runner {
  name: string;
  /** Repeats the corpus, with variations by round where it has any. Several loops may share `rounds`. */
  run(target: Target, rounds: Iterable<number>, note: Note): Promise<void>;
}
export type Note = (name: string, answer: number | string, fine: boolean) => void;

export async function startTarget(env: Record<string, string> = {}): Promise<Target> {
  const service = await startService(env, { servers: false });
  const client = await signIn(service);
  const { key, pipeline } = await pipelineTo(client, 'https://vendor.invalid/', { pipeline: { rate_limit_rps: 1_000_000 } });
  await client.call('PUT', '/data-layer', {
    config: { pii_rules: { detect: ['email', 'phone', 'card', 'iban'], detect_action: 'hash', url_params: ['email', 'token'] } },
  });
  await sleep(2_000);
  return { service, client, key, pipelineId: pipeline.id, port: Number(new URL(service.url).port) };
}

const PROGRESS_EVERY = 5_000;
export function answersOf({ answers }: Pick<Report, 'answers'>): string {
  return [...answers].map(([answer, count]) => `${answer} × ${count}`).join(', ');
}

/** Accepted events are processed, and changes loaded, after the answer. */
export const REST_MS = 2_000;

export interface Slicing {
  /** The first round. */
  first?: number;
  /** How long the process is watched after the last answer. */
  restMs?: number;
  /** Begins no further round when this returns true. */
  isOver?: (cases: number) => boolean;
}

export async function attack(runner: Runner, target: Target, count: number, slicing: Slicing = {}): Promise<Report> {
  const { first = 0, restMs = REST_MS, isOver = () => false } = slicing;
  const report: Report = { cases: 0, next: first, answers: new Map(), faults: [], stall: { wall: 0, cpu: 0 }, peakMb: 0 };
  const { pid } = target.service;
  const stalls = watchStalls(target.service, { cases: () => report.cases });
  const memory = watchMemory(() => target.service.pid);
  function* rounds(): Generator<number> {
    while (report.next < first + count && !isOver(report.cases)) yield report.next++;
  }
  await runner.run(target, rounds(), (name, answer, fine) => {
    report.cases += 1;
    report.answers.set(String(answer), (report.answers.get(String(answer)) ?? 0) + 1);
    if (!fine || Number(answer) >= 500) report.faults.push(`${name}: ${answer}`);
    if (report.cases % PROGRESS_EVERY === 0)
      console.log(
        `  ${report.cases} cases: ${answersOf(report)}; wrong ${report.faults.length}; private memory ${Math.round(memory.peak)} MB at most`,
      );
  });
  await sleep(restMs);
  report.stall = stalls.stop();
  memory.stop();
  report.peakMb = Math.round(memory.peak);
  if (target.service.ended() !== undefined || target.service.pid !== pid) report.faults.push('the process ended');
  return report;
}

export interface Stall {
  wall: number;
  cpu: number;
  step: string;
}
interface StallLine {
  stall_ms: number;
  cpu_ms: number;
  gc_ms: number;
  system_ms: number;
  step: string;
  about?: string;
}
/**
 * Prints each stall of the event loop that the service logs, with the number of cases so far. A long run fills the kept output many times,
 * so it is read every second. `stop` returns the longest stall; 0 where the loop was never held for more than 50 ms.
 */
export function watchStalls(
  service: Pick<Service, 'output'>,
  { cases, quiet = false }: { cases?: () => number; quiet?: boolean } = {},
): { stop(): Stall; readonly all: readonly (Stall & { gc: number })[] } {
  // Lines carry the time, so no two are equal.
  const seen = new Set(stallLines(service.output()));
  const longest: Stall = { wall: 0, cpu: 0, step: '' };
  const all: (Stall & { gc: number })[] = [];
  function look(): void {
    for (const line of stallLines(service.output())) {
      if (seen.has(line)) continue;
      seen.add(line);
      const { stall_ms, cpu_ms, gc_ms, system_ms, step, about } = JSON.parse(line) as StallLine;
      const name = about === undefined ? step : `${step} ${about}`;
      longest.wall = Math.max(longest.wall, stall_ms);
      if (cpu_ms > longest.cpu) Object.assign(longest, { cpu: cpu_ms, step: name });
      all.push({ wall: stall_ms, cpu: cpu_ms, step: name, gc: gc_ms });
      if (quiet) continue;
      console.log(
        `  stall of ${stall_ms} ms, own work ${cpu_ms} ms (garbage collection ${gc_ms}, system ${system_ms}), ${name}${cases === undefined ? '' : `, after ${cases()} cases`}`,
      );
    }
  }
  const timer = setInterval(look, 1_000);
  return {
    all,
    stop() {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}

function stallLines(output: string): string[] {
  // The first and the last line may be incomplete.
  const lines = output.split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{') && line.includes('"event loop stalled"'));
}
