import { readFileSync } from 'node:fs';
import { atMost, type BenchResult, figure } from '../result.ts';

const MAX_MB = 300;

/** Peak memory over all processes of a run, in MB. */
export class PeakMemory {
  /** Anonymous pages. Pages of the log's mapped file belong to the system's page cache and do not count. */
  own = 0;
  /** Everything resident, mapped files included. */
  resident = 0;

  readonly sample = (pid: number | undefined): void => {
    const status = statusOf(pid);
    this.own = Math.max(this.own, kilobytes(status, 'RssAnon') / 1_024);
    this.resident = Math.max(this.resident, kilobytes(status, 'VmHWM') / 1_024);
  };
  /** The own memory is judged: the system takes mapped pages back when others need them. */
  results(name: string): BenchResult[] {
    return [
      atMost(`${name}, own memory`, this.own, 'MB', MAX_MB),
      figure(`${name}, resident memory with the mapped log`, this.resident, 'MB'),
    ];
  }
}

function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    // The process has exited.
    return '';
  }
}
function kilobytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
}
