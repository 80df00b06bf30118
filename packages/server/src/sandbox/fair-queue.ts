/**
 * Jobs that wait for a worker. Organisations share the workers by time: the next job is of the organisation that has used the least
 * (start-time fair queueing, by measured milliseconds). The pipelines of one organisation take turns.
 */
export interface Job {
  /** The organisation that pays for the job's time. */
  org: string;
  /** The pipeline whose turn the job takes. */
  line: string;
  /** Jobs with the same key and code may share a message. */
  key: string;
  code: string;
  parameters: string;
  fresh: boolean;
  load_only: boolean;
  event: string;
}

const MAX_PAID = 1_000;

export class FairQueue<J extends Job> {
  /** Lines by organisation, in the order of their turns. */
  readonly #lines = new Map<string, Map<string, J[]>>();
  readonly #heads = new Map<string, number>();
  /** Milliseconds on the virtual clock at which an organisation may have its next job. Absent: now. */
  readonly #paid = new Map<string, number>();
  /** The virtual clock: the time of the organisation that was served last. An idle organisation cannot save up time. */
  #now = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(job: J): void {
    const lines = this.#linesOf(job.org);
    const line = lines.get(job.line);
    if (line === undefined) lines.set(job.line, [job]);
    else line.push(job);
    this.#size += 1;
  }

  /** Puts jobs back at the front of their line, in the given order. */
  restore(jobs: readonly J[]): void {
    for (const [name, restored] of Map.groupBy(jobs, (job) => job.line)) {
      const [first] = restored;
      if (first === undefined) continue;
      const lines = this.#linesOf(first.org);
      const rest = (lines.get(name) ?? []).slice(this.#heads.get(name) ?? 0);
      lines.set(name, [...restored, ...rest]);
      this.#heads.delete(name);
    }
    this.#size += jobs.length;
  }

  /** The organisation used a worker for so long. */
  charge(org: string, ms: number): void {
    this.#paid.set(org, this.#timeOf(org) + ms);
    if (this.#paid.size > MAX_PAID) for (const [one, time] of this.#paid) if (time <= this.#now) this.#paid.delete(one);
  }

  /**
   * Takes the first jobs that may share a message: of the organisation with the least time among those with a line that may run, from the
   * next such line. That line and the organisation move to the back.
   */
  take(maxJobs: (line: string) => number, maxChars: number): J[] {
    let chosen: { org: string; lines: Map<string, J[]>; name: string; most: number; time: number } | undefined;
    for (const [org, lines] of this.#lines) {
      const time = this.#timeOf(org);
      if (chosen !== undefined && time >= chosen.time) continue;
      for (const name of lines.keys()) {
        const most = maxJobs(name);
        if (most === 0) continue;
        chosen = { org, lines, name, most, time };
        break;
      }
    }
    if (chosen === undefined) return [];
    const { org, lines, name, most, time } = chosen;
    this.#now = Math.max(this.#now, time);
    const taken = this.#takeFrom(lines, name, most, maxChars);
    this.#lines.delete(org);
    if (lines.size > 0) this.#lines.set(org, lines);
    return taken;
  }

  #timeOf(org: string): number {
    return Math.max(this.#now, this.#paid.get(org) ?? 0);
  }
  #linesOf(org: string): Map<string, J[]> {
    let lines = this.#lines.get(org);
    if (lines === undefined) {
      lines = new Map();
      this.#lines.set(org, lines);
    }
    return lines;
  }

  #takeFrom(lines: Map<string, J[]>, name: string, maxJobs: number, maxChars: number): J[] {
    const line = lines.get(name) ?? [];
    let head = this.#heads.get(name) ?? 0;
    const lead = line[head];
    const taken: J[] = [];
    let chars = 0;
    for (let job = lead; job !== undefined && lead !== undefined && taken.length < maxJobs; job = line[head]) {
      if (chars > 0 && chars + job.event.length > maxChars) break;
      if (job !== lead && !mayShare(job, lead)) break;
      taken.push(job);
      chars += job.event.length;
      head += 1;
      if (lead.fresh) break;
    }
    lines.delete(name);
    if (head < line.length) {
      // Taken jobs stay in the array until they make up half of it, to avoid a copy per message.
      const compact = head > line.length / 2;
      lines.set(name, compact ? line.slice(head) : line);
      if (compact) this.#heads.delete(name);
      else this.#heads.set(name, head);
    } else this.#heads.delete(name);
    this.#size -= taken.length;
    return taken;
  }

  /** Removes and returns all waiting jobs. */
  clear(): J[] {
    const all = [...this.#lines.values()].flatMap((lines) => [...lines].flatMap(([name, line]) => line.slice(this.#heads.get(name) ?? 0)));
    this.#lines.clear();
    this.#heads.clear();
    this.#size = 0;
    return all;
  }
}

function mayShare(job: Job, lead: Job): boolean {
  return job.key === lead.key && job.code === lead.code && job.parameters === lead.parameters && !job.fresh && !job.load_only;
}
