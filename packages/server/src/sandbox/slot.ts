/** One worker thread as the pool sees it: its jobs, the running event, and since when. */
import { Worker } from 'node:worker_threads';
import { threadEntry } from '../runtime/thread-entry.ts';
import type { Job } from './fair-queue.ts';
import { LEAVE_REST, RUNNING, type RunMessage, type RunResult, type SandboxLimits, SHARED_SLOTS, type WorkerStart } from './protocol.ts';

export interface PoolJob extends Job {
  /** Called before the job runs: returns a result instead of a run if its code was suspended in the meantime. */
  refused(): RunResult | undefined;
  settle(result: RunResult): void;
  settled: boolean;
}

export class Slot {
  readonly worker: Worker;
  ready = false;
  jobs: PoolJob[] = [];
  /** How many of them have their results. */
  reported = 0;
  /** The running event is slow: the others of its message were given to other workers. */
  left = false;
  /** QuickJS failed to interrupt the run in time: the worker will be terminated, and its replacement starts first. */
  doomed = false;
  idleSince: number;
  readonly #shared: Int32Array;
  /** The event that was running at the last check, and since when. */
  #seen = 0;
  #since: number;
  /** CPU time of the worker, in milliseconds, when that event was found to be slow. */
  #cpuWhenSlow: number | undefined;
  #asking = false;

  constructor(engine: WebAssembly.Module, limits: SandboxLimits, now: number) {
    const shared = new SharedArrayBuffer(SHARED_SLOTS * 4);
    this.#shared = new Int32Array(shared);
    this.#since = now;
    this.idleSince = now;
    this.worker = new Worker(threadEntry(new URL('./worker.ts', import.meta.url)), {
      eval: true,
      workerData: { limits, shared, engine } satisfies WorkerStart,
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
    this.worker.unref();
  }

  run(jobs: PoolJob[], now: number): void {
    this.jobs = jobs;
    this.left = false;
    this.reported = 0;
    this.#seen = 0;
    this.#since = now;
    Atomics.store(this.#shared, LEAVE_REST, 0);
    const { key, code, parameters, fresh, load_only } = jobs[0]!;
    this.worker.postMessage({ key, code, parameters, fresh, load_only, events: jobs.map((job) => job.event) } satisfies RunMessage);
  }

  /** The running event of the message (from 1; 0 for none), and how long it has been observed. */
  look(now: number): { running: number; elapsed: number } {
    const running = Atomics.load(this.#shared, RUNNING);
    if (running !== this.#seen) {
      this.#seen = running;
      this.#since = now;
      this.#cpuWhenSlow = undefined;
    }
    return { running, elapsed: now - this.#since };
  }

  underWay(): PoolJob | undefined {
    const running = Atomics.load(this.#shared, RUNNING);
    return running > 0 ? this.jobs[running - 1] : undefined;
  }

  /**
   * Tells the worker to stop after the running event, and returns the other jobs. Earlier events that are not reported yet run again, and
   * the first result counts.
   */
  leaveRest(running: number): PoolJob[] {
    this.left = true;
    Atomics.store(this.#shared, LEAVE_REST, 1);
    this.#askCpu((cpu) => {
      this.#cpuWhenSlow = cpu;
    });
    const others = this.jobs.filter((job, i) => i !== running - 1 && !job.settled);
    this.jobs = this.jobs.slice(0, running);
    return others;
  }

  /** Calls `then` only if the running event used so much CPU since it was found to be slow. Otherwise the next check tries again. */
  ifUsed(cpuMs: number, then: () => void): void {
    const before = this.#cpuWhenSlow;
    if (typeof this.worker.cpuUsage !== 'function') then();
    // Not known yet if this thread itself was delayed.
    else if (before !== undefined)
      this.#askCpu((cpu) => {
        if (cpu - before >= cpuMs) then();
      });
  }

  /** Queries the worker's CPU time. The answer counts only while the same event runs. */
  #askCpu(answer: (cpuMs: number) => void): void {
    if (this.#asking || typeof this.worker.cpuUsage !== 'function') return;
    this.#asking = true;
    const seen = this.#seen;
    const since = this.#since;
    this.worker.cpuUsage().then(
      ({ user, system }) => {
        this.#asking = false;
        if (this.jobs.length > 0 && this.#seen === seen && this.#since === since) answer((user + system) / 1_000);
      },
      () => {
        this.#asking = false; // the worker has just exited
      },
    );
  }
}
