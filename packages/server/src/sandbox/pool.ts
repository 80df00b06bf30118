/**
 * Worker threads that run user code, and their watchdog. A run that QuickJS cannot interrupt is ended by terminating its worker, which is
 * replaced. The other events of its message move to other workers as soon as the run is found to be slow. One spare worker keeps
 * throughput up during a slow run, and one worker is always free of lines that recently had slow runs.
 */
import type { Clock } from '../runtime/clock.ts';
import { compileEngine } from './engine.ts';
import { FairQueue } from './fair-queue.ts';
import type { RunResult, SandboxLimits, WorkerReply } from './protocol.ts';
import { type PoolJob, Slot } from './slot.ts';
import { Suspects } from './suspects.ts';

export type { PoolJob } from './slot.ts';
export interface PoolOptions {
  workers: number;
  limits: SandboxLimits;
  clock: Pick<Clock, 'monotonic'>;
  /** A worker failed to start or died. */
  onFault(message: string): void;
}

const MAX_JOBS = 16;
/** Message size for lines with a recent slow run: the events behind a slow one wait until it is detected. */
const MAX_SUSPECT_JOBS = 4;
const MAX_CHARS = 256 * 1024;
const LOOK_EVERY_MS = 10;
/** When an event takes longer than this, the others of its message move to other workers. */
const SLOW_MS = 15;
/** A check may be late by its own interval and a busy event loop, and first queries the worker's CPU time. */
const HARD_MARGIN_MS = 60;
/** After this multiple of the soft limit the worker's replacement is started. */
const DOOMED_TIMES = 2;
/** On an overloaded machine a worker may get no CPU time. A run that used none is spared, up to this multiple of the limit. */
const STARVED_TIMES = 4;
const IDLE_MS = 60_000;
const RESTART_MS = 1_000;
const RESERVE = 1;

export class Pool {
  readonly #options: PoolOptions;
  readonly #queue = new FairQueue<PoolJob>();
  readonly #slots = new Set<Slot>();
  readonly #suspects: Suspects;
  #engine: WebAssembly.Module | undefined;
  #loading = false;
  #watch: NodeJS.Timeout | undefined;
  #restart: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#suspects = new Suspects(options.clock);
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
    let working = 0;
    for (const slot of this.#slots) if (slot.jobs.length > 0 && !slot.left) working += 1;
    for (const slot of this.#slots) {
      if (this.#queue.size === 0 || working >= this.#options.workers) break;
      if (slot.ready && slot.jobs.length === 0 && this.#dispatch(slot)) working += 1;
    }
    // Start all workers on first use: a worker takes about 100 ms to start, too late once the only one is in an endless loop.
    if (this.#queue.size > 0 || this.#slots.size > 0) this.#spawnMissing();
    if (this.#watch === undefined && this.#slots.size > 0) {
      this.#watch = setInterval(() => this.#look(), LOOK_EVERY_MS);
      this.#watch.unref();
    }
  }

  /** Returns whether the worker got any jobs. */
  #dispatch(slot: Slot): boolean {
    let ready = 0;
    let suspect = 0;
    for (const other of this.#slots) {
      if (!other.ready || other.doomed) continue;
      ready += 1;
      if (this.#holdsSuspect(other)) suspect += 1;
    }
    // With a single worker, all lines share it.
    const suspectsMayRun = suspect < Math.max(1, ready - 1);
    const most = (line: string) => (!this.#suspects.has(line) ? MAX_JOBS : suspectsMayRun ? MAX_SUSPECT_JOBS : 0);
    let jobs: PoolJob[] = [];
    for (let taken = this.#queue.take(most, MAX_CHARS); taken.length > 0; taken = this.#queue.take(most, MAX_CHARS)) {
      jobs = taken.filter(isWanted);
      if (jobs.length > 0) break;
    }
    if (jobs.length === 0) return false;
    slot.run(jobs, this.#options.clock.monotonic());
    return true;
  }

  #holdsSuspect(slot: Slot): boolean {
    const first = slot.jobs[0];
    return first !== undefined && this.#suspects.has(first.line);
  }

  #spawnMissing(): void {
    if (this.#restart !== undefined || this.#loading) return;
    const engine = this.#engine;
    if (engine === undefined) {
      this.#loading = true;
      void this.#load();
      return;
    }
    const wanted = this.#options.workers + RESERVE;
    let there = 0;
    for (const slot of this.#slots) if (!slot.doomed) there += 1;
    for (; there < wanted; there++) this.#spawn(engine);
  }
  async #load(): Promise<void> {
    try {
      this.#engine = await compileEngine();
      this.#loading = false;
      this.#pump();
    } catch (error) {
      this.#loading = false;
      this.#options.onFault(`the sandbox's engine cannot be loaded: ${String(error)}`);
      this.#tryLater();
    }
  }
  #tryLater(): void {
    if (this.#stopped) return;
    this.#restart ??= setTimeout(() => {
      this.#restart = undefined;
      this.#pump();
    }, RESTART_MS);
  }

  #spawn(engine: WebAssembly.Module): void {
    const slot = new Slot(engine, this.#options.limits, this.#options.clock.monotonic());
    this.#slots.add(slot);
    const { worker } = slot;
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
      for (const [i, job] of jobs.entries()) {
        const result = reply.results[i];
        if (result === undefined) break;
        if (result.ended) this.#suspects.add(job.line);
        settle(job, result);
      }
      // The run finished after all, but its replacement is already started.
      if (slot.doomed) this.#drop(slot);
    }
    this.#pump();
  }

  /** The worker died by itself. The running event is blamed, as the most likely cause; the others run again. */
  #onDeath(slot: Slot, why: string): void {
    if (!this.#slots.delete(slot)) return;
    const blamed = slot.underWay();
    if (blamed !== undefined) {
      this.#suspects.add(blamed.line);
      settle(blamed, { error: `stopped: the worker died (${why})`, ended: true });
    }
    this.#queue.restore(slot.jobs.filter((job) => !job.settled));
    slot.jobs = [];
    if (!slot.ready) {
      this.#options.onFault(`a sandbox worker does not start: ${why}`);
      this.#tryLater();
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
    // Stop all or none: while any worker remains, the pool respawns the others.
    if (this.#queue.size === 0 && [...this.#slots].every((slot) => slot.ready && slot.jobs.length === 0 && now - slot.idleSince > IDLE_MS))
      for (const slot of this.#slots) this.#drop(slot);
    if (this.#slots.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
  }

  #lookAt(slot: Slot, now: number): void {
    const { running, elapsed } = slot.look(now);
    if (running === 0) return;
    if (elapsed >= SLOW_MS && !slot.left) {
      this.#suspects.add(slot.jobs[running - 1]!.line);
      this.#queue.restore(slot.leaveRest(running));
      this.#pump();
    }
    const { hard_ms, soft_ms } = this.#options.limits;
    if (elapsed >= hard_ms - HARD_MARGIN_MS) {
      if (elapsed > hard_ms * STARVED_TIMES) this.#end(slot, running);
      else slot.ifAtWork(() => this.#end(slot, running));
    } else if (elapsed >= soft_ms * DOOMED_TIMES && !slot.doomed) slot.ifAtWork(() => this.#doom(slot));
  }

  #doom(slot: Slot): void {
    slot.doomed = true;
    this.#pump();
  }

  #end(slot: Slot, running: number): void {
    const job = slot.jobs[running - 1];
    this.#drop(slot);
    slot.jobs = [];
    if (job !== undefined) this.#suspects.add(job.line);
    if (job !== undefined) settle(job, { error: `ended after ${this.#options.limits.hard_ms} ms`, ended: true });
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
