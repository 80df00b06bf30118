/** A round-robin queue with one line of jobs per pipeline. A pipeline with a thousand jobs delays only itself. */
export interface Job {
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

export class FairQueue<J extends Job> {
  readonly #lines = new Map<string, J[]>();
  readonly #heads = new Map<string, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(job: J): void {
    const line = this.#lines.get(job.line);
    if (line === undefined) this.#lines.set(job.line, [job]);
    else line.push(job);
    this.#size += 1;
  }

  /** Puts jobs back at the front of their line, in the given order. */
  restore(jobs: readonly J[]): void {
    for (const [name, restored] of Map.groupBy(jobs, (job) => job.line)) {
      const rest = (this.#lines.get(name) ?? []).slice(this.#heads.get(name) ?? 0);
      this.#lines.set(name, [...restored, ...rest]);
      this.#heads.delete(name);
    }
    this.#size += jobs.length;
  }

  /** Takes the first jobs that may share a message from the next line allowed to run; that line moves to the back. */
  take(maxJobs: (line: string) => number, maxChars: number): J[] {
    for (const [name, line] of this.#lines) {
      const most = maxJobs(name);
      if (most > 0) return this.#takeFrom(name, line, most, maxChars);
    }
    return [];
  }

  #takeFrom(name: string, line: J[], maxJobs: number, maxChars: number): J[] {
    let head = this.#heads.get(name) ?? 0;
    const lead = line[head]!;
    const taken: J[] = [];
    let chars = 0;
    while (head < line.length && taken.length < maxJobs && (chars === 0 || chars + line[head]!.event.length <= maxChars)) {
      const job = line[head]!;
      if (job.key !== lead.key || job.code !== lead.code || job.parameters !== lead.parameters || job.fresh || job.load_only)
        if (job !== lead) break;
      taken.push(job);
      chars += job.event.length;
      head += 1;
      if (lead.fresh) break;
    }
    this.#lines.delete(name);
    if (head < line.length) {
      // Taken jobs stay in the array until they make up half of it, to avoid a copy per message.
      const compact = head > line.length / 2;
      this.#lines.set(name, compact ? line.slice(head) : line);
      if (compact) this.#heads.delete(name);
      else this.#heads.set(name, head);
    } else this.#heads.delete(name);
    this.#size -= taken.length;
    return taken;
  }

  /** Removes and returns all waiting jobs. */
  clear(): J[] {
    const all = [...this.#lines].flatMap(([name, line]) => line.slice(this.#heads.get(name) ?? 0));
    this.#lines.clear();
    this.#heads.clear();
    this.#size = 0;
    return all;
  }
}
