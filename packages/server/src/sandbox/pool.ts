/**
 * Worker threads that run user code, and the watch over them. A run that QuickJS cannot interrupt ends with its worker,
 * which is replaced; what waited behind it in the same message runs elsewhere.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../runtime/clock.ts';
import { FairQueue, type Job } from './fair-queue.ts';
import {
  AT_WORK_PART,
  LEAVE_REST,
  RUNNING,
  type RunMessage,
  type RunResult,
  type SandboxLimits,
  SHARED_SLOTS,
  type WorkerReply,
} from './protocol.ts';

export interface PoolJob extends Job {
  /** Asked when its turn comes: an answer instead of a run, where its code was suspended meanwhile. */
  refused(): RunResult | undefined;
  settle(result: RunResult): void;
  settled: boolean;
}
export interface PoolOptions {
  workers: number;
  limits: SandboxLimits;
  clock: Pick<Clock, 'monotonic'>;
  /** A worker that fails to start, or dies by itself. */
  onFault(message: string): void;
}
interface Slot {
  worker: Worker;
  shared: Int32Array;
  ready: boolean;
  jobs: PoolJob[];
  /** The event seen running at the last look, and since when. */
  seen: number;
  since: number;
  left: boolean;
  /** What the worker had worked, in milliseconds, when that event was found to be slow. */
  cpuWhenSlow: number | undefined;
  asking: boolean;
  idleSince: number;
}

const MAX_JOBS = 16;
const MAX_CHARS = 256 * 1024;
const LOOK_EVERY_MS = 10;
/** An event that takes longer than this does not keep the others of its message waiting. */
const SLOW_MS = 15;
/** A look may come late by its own interval and by a busy event loop. */
const HARD_MARGIN_MS = 40;
/** On a crowded machine a worker may get no time at all: one that did not work is not to blame, up to so many times the limit. */
const STARVED_TIMES = 4;
const SUSPECT_MS = 10_000;
const MAX_SUSPECTS = 10_000;
const IDLE_MS = 60_000;
/** WebAssembly memory never shrinks: past this a worker is replaced once it is idle. */
const MAX_WASM_BYTES = 128 * 1024 * 1024;
const RESTART_MS = 1_000;

export class Pool {
  readonly #options: PoolOptions;
  readonly #queue = new FairQueue<PoolJob>();
  readonly #slots = new Set<Slot>();
  /** Lines with an ended run lately, until when: all of them together get one worker at a time. */
  readonly #suspects = new Map<string, number>();
  #watch: NodeJS.Timeout | undefined;
  #restart: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get workers(): number {
    return this.#slots.size;
  }
  get waiting(): number {
    return this.#queue.size;
  }

  submit(job: PoolJob): void {
    if (this.#stopped) job.settle({ error: 'the sandbox has stopped' });
    else {
      this.#queue.push(job);
      this.#pump();
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#watch);
    clearTimeout(this.#restart);
    const slots = [...this.#slots];
    this.#slots.clear();
    for (const job of [...slots.flatMap((slot) => slot.jobs), ...this.#queue.clear()]) settle(job, { error: 'the sandbox has stopped' });
    await Promise.all(slots.map((slot) => slot.worker.terminate()));
  }

  #pump(): void {
    if (this.#stopped) return;
    for (const slot of this.#slots) if (slot.ready && slot.jobs.length === 0 && this.#queue.size > 0) this.#dispatch(slot);
    // All at the first need: a worker starts in 100 ms or so, too late when the only one has met an endless loop.
    if (this.#queue.size > 0 || this.#slots.size > 0)
      while (this.#slots.size < this.#options.workers && this.#restart === undefined) this.#spawn();
    if (this.#watch === undefined && this.#slots.size > 0) {
      this.#watch = setInterval(() => this.#look(), LOOK_EVERY_MS);
      this.#watch.unref();
    }
  }

  #dispatch(slot: Slot): void {
    const mayRun = (line: string) =>
      !this.#isSuspect(line) || ![...this.#slots].some((other) => other !== slot && this.#holdsSuspect(other));
    let jobs: PoolJob[] = [];
    for (
      let taken = this.#queue.take(MAX_JOBS, MAX_CHARS, mayRun);
      taken.length > 0;
      taken = this.#queue.take(MAX_JOBS, MAX_CHARS, mayRun)
    ) {
      jobs = taken.filter(isWanted);
      if (jobs.length > 0) break;
    }
    const first = jobs[0];
    if (first === undefined) return;
    slot.jobs = jobs;
    slot.seen = 0;
    slot.left = false;
    slot.since = this.#options.clock.monotonic();
    Atomics.store(slot.shared, LEAVE_REST, 0);
    const { key, code, parameters, fresh, load_only } = first;
    slot.worker.postMessage({ key, code, parameters, fresh, load_only, events: jobs.map((job) => job.event) } satisfies RunMessage);
  }

  #isSuspect(line: string): boolean {
    const until = this.#suspects.get(line);
    if (until === undefined) return false;
    if (this.#options.clock.monotonic() < until) return true;
    this.#suspects.delete(line);
    return false;
  }
  #holdsSuspect(slot: Slot): boolean {
    const first = slot.jobs[0];
    return first !== undefined && this.#isSuspect(first.line);
  }
  #suspect(line: string): void {
    this.#suspects.delete(line);
    if (this.#suspects.size >= MAX_SUSPECTS) this.#suspects.delete(this.#suspects.keys().next().value as string);
    this.#suspects.set(line, this.#options.clock.monotonic() + SUSPECT_MS);
  }

  #spawn(): void {
    const shared = new SharedArrayBuffer(SHARED_SLOTS * 4);
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { limits: this.#options.limits, shared },
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
    worker.unref();
    const now = this.#options.clock.monotonic();
    const slot: Slot = {
      worker,
      shared: new Int32Array(shared),
      ready: false,
      jobs: [],
      seen: 0,
      since: now,
      left: false,
      cpuWhenSlow: undefined,
      asking: false,
      idleSince: now,
    };
    this.#slots.add(slot);
    worker.on('message', (reply: WorkerReply) => this.#onReply(slot, reply));
    worker.on('error', (error) => this.#onDeath(slot, error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => this.#onDeath(slot, 'it ended'));
  }

  #onReply(slot: Slot, reply: WorkerReply): void {
    if (!this.#slots.has(slot)) return;
    slot.idleSince = this.#options.clock.monotonic();
    if (reply.type === 'ready') slot.ready = true;
    else {
      const jobs = slot.jobs;
      slot.jobs = [];
      for (const [i, result] of reply.results.entries()) {
        if (result.ended) this.#suspect(jobs[i]!.line);
        settle(jobs[i]!, result);
      }
      if (reply.wasm_bytes > MAX_WASM_BYTES) this.#drop(slot);
    }
    this.#pump();
  }

  /** Not by our hand: the event under way is to blame, for all that can be told; the others run again. */
  #onDeath(slot: Slot, why: string): void {
    if (!this.#slots.delete(slot)) return;
    const running = Atomics.load(slot.shared, RUNNING);
    const blamed = running > 0 ? slot.jobs[running - 1] : undefined;
    if (blamed !== undefined) settle(blamed, { error: `stopped: the worker died (${why})`, ended: true });
    this.#queue.restore(slot.jobs.filter((job) => !job.settled));
    slot.jobs = [];
    if (!slot.ready) {
      this.#options.onFault(`a sandbox worker does not start: ${why}`);
      this.#restart ??= setTimeout(() => {
        this.#restart = undefined;
        this.#pump();
      }, RESTART_MS);
    } else if (blamed === undefined) this.#options.onFault(`a sandbox worker died: ${why}`);
    this.#pump();
  }

  #drop(slot: Slot): void {
    this.#slots.delete(slot);
    void slot.worker.terminate();
  }

  #look(): void {
    const now = this.#options.clock.monotonic();
    for (const slot of this.#slots) {
      if (slot.jobs.length > 0) this.#lookAt(slot, now);
    }
    // Together or not at all: one alone would be joined by the others again.
    if (this.#queue.size === 0 && [...this.#slots].every((slot) => slot.ready && slot.jobs.length === 0 && now - slot.idleSince > IDLE_MS))
      for (const slot of this.#slots) this.#drop(slot);
    if (this.#slots.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
  }

  #lookAt(slot: Slot, now: number): void {
    const running = Atomics.load(slot.shared, RUNNING);
    if (running !== slot.seen) {
      slot.seen = running;
      slot.since = now;
      slot.cpuWhenSlow = undefined;
      return;
    }
    if (running === 0) return;
    const elapsed = now - slot.since;
    if (elapsed >= SLOW_MS && !slot.left) {
      slot.left = true;
      Atomics.store(slot.shared, LEAVE_REST, 1);
      // Should the worker be in the middle of going on, an event runs twice: the first result counts.
      this.#queue.restore(slot.jobs.slice(running).filter((job) => !job.settled));
      slot.jobs = slot.jobs.slice(0, running);
      this.#askCpu(slot, (cpu) => {
        slot.cpuWhenSlow = cpu;
      });
      this.#pump();
    }
    const { hard_ms, soft_ms } = this.#options.limits;
    if (elapsed < hard_ms - HARD_MARGIN_MS) return;
    const atWork = slot.cpuWhenSlow;
    if (typeof slot.worker.cpuUsage !== 'function' || elapsed > hard_ms * STARVED_TIMES) this.#end(slot, running);
    // Not known yet where this thread itself was held up: the next look decides.
    else if (atWork !== undefined)
      this.#askCpu(slot, (cpu) => {
        if (cpu - atWork >= soft_ms * AT_WORK_PART) this.#end(slot, running);
      });
  }

  /** What the worker has worked so far; the answer counts only while the same event runs. */
  #askCpu(slot: Slot, answer: (cpuMs: number) => void): void {
    if (slot.asking || typeof slot.worker.cpuUsage !== 'function') return;
    slot.asking = true;
    const { seen, since } = slot;
    slot.worker.cpuUsage().then(
      ({ user, system }) => {
        slot.asking = false;
        if (this.#slots.has(slot) && slot.seen === seen && slot.since === since) answer((user + system) / 1_000);
      },
      () => {
        slot.asking = false; // it has just ended by itself
      },
    );
  }

  #end(slot: Slot, running: number): void {
    const job = slot.jobs[running - 1];
    const unfinished = slot.jobs.slice(0, running - 1);
    this.#drop(slot);
    slot.jobs = [];
    if (job !== undefined) this.#suspect(job.line);
    if (job !== undefined) settle(job, { error: `ended after ${this.#options.limits.hard_ms} ms`, ended: true });
    // Their results died with the worker.
    this.#queue.restore(unfinished.filter((one) => !one.settled));
    this.#pump();
  }
}

function isWanted(job: PoolJob): boolean {
  const answer = job.settled ? undefined : job.refused();
  if (answer !== undefined) settle(job, answer);
  return !job.settled;
}

function settle(job: PoolJob, result: RunResult): void {
  if (job.settled) return;
  job.settled = true;
  job.settle(result);
}
