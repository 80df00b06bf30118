/**
 * Worker threads that run user code, and their watchdog. A run that QuickJS cannot interrupt is ended by terminating its worker, which is
 * replaced. The other events of its message move to other workers as soon as the run is found to be slow. A spare worker keeps throughput up
 * during a slow run. Lines that recently had slow runs never occupy the last worker. Lines that are mostly slow share one worker, which
 * leaves a core to everything else.
 */
import type { Clock } from '../runtime/clock.ts';
import { endLongTurn } from '../runtime/turns.ts';
import { compileEngine } from './engine.ts';
import { FairQueue } from './fair-queue.ts';
import { AT_WORK_PART, type RunResult, type SandboxLimits, type WorkerReply } from './protocol.ts';
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
/** How often running events are looked at, and idle workers. */
const LOOK_EVERY_MS = 5;
const LOOK_IDLE_EVERY_MS = 10_000;
/** When an event takes longer than this, the others of its message move to other workers. */
const LEAVE_MS = 5;
/** Code whose event takes longer than this is suspect: elapsed time while it runs, CPU time when it has ended. */
const SLOW_MS = 15;
/** A check may be late by its own interval and a busy event loop, and first queries the worker's CPU time. */
const HARD_MARGIN_MS = 60;
/** After this multiple of the soft limit the worker's replacement is started. */
const DOOMED_TIMES = 2;
/** On an overloaded machine a worker gets little CPU time. A run that used less than the limit is spared, up to this multiple of the limit. */
const STARVED_TIMES = 40;
const IDLE_MS = 60_000;
const RESTART_MS = 1_000;
const RESERVE = 1;

export class Pool {
  readonly #options: PoolOptions;
  readonly #queue = new FairQueue<PoolJob>();
  readonly #slots = new Set<Slot>();
  readonly #suspects: Suspects;
  #engine: WebAssembly.Module | undefined;
  /** The engine is being loaded, or the next worker waits for its turn. */
  #loading = false;
  #watch: NodeJS.Timeout | undefined;
  #watchesRuns = false;
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
    clearTimeout(this.#watch);
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
    this.#scheduleLook();
  }

  /** Looks often only while something runs: a timer every few milliseconds would keep an idle process awake. */
  #scheduleLook(): void {
    let runs = false;
    for (const slot of this.#slots) runs ||= slot.jobs.length > 0;
    if (this.#watch !== undefined && (this.#watchesRuns || !runs)) return;
    clearTimeout(this.#watch);
    this.#watchesRuns = runs;
    this.#watch = this.#slots.size === 0 ? undefined : setTimeout(() => this.#look(), runs ? LOOK_EVERY_MS : LOOK_IDLE_EVERY_MS).unref();
  }

  /** Returns whether the worker got any jobs. */
  #dispatch(slot: Slot): boolean {
    let ready = 0;
    let suspect = 0;
    let heavy = 0;
    for (const other of this.#slots) {
      if (!other.ready || other.doomed) continue;
      ready += 1;
      const line = other.jobs[0]?.line;
      if (line === undefined) continue;
      if (this.#suspects.has(line)) suspect += 1;
      if (this.#suspects.isHeavy(line)) heavy += 1;
    }
    // With a single worker, all lines share it.
    const suspectsMayRun = suspect < Math.max(1, ready - 1);
    const heavyMayRun = heavy < Math.max(1, this.#options.workers - 1);
    // Few jobs are spread over the workers: those behind a slow one wait.
    const share = Math.min(MAX_JOBS, Math.ceil(this.#queue.size / this.#options.workers));
    const most = (line: string) => {
      if (!this.#suspects.has(line)) return share;
      return suspectsMayRun && (heavyMayRun || !this.#suspects.isHeavy(line)) ? Math.min(share, MAX_SUSPECT_JOBS) : 0;
    };
    let jobs: PoolJob[] = [];
    for (let taken = this.#queue.take(most, MAX_CHARS); taken.length > 0; taken = this.#queue.take(most, MAX_CHARS)) {
      jobs = taken.filter(isWanted);
      if (jobs.length > 0) break;
    }
    if (jobs.length === 0) return false;
    slot.run(jobs, this.#options.clock.monotonic());
    return true;
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
    if (there >= wanted) return;
    this.#spawn(engine);
    if (there + 1 < wanted) void this.#spawnOthers();
  }
  /** Starting a worker takes this thread some milliseconds: each has a turn of its own. */
  async #spawnOthers(): Promise<void> {
    this.#loading = true;
    await endLongTurn();
    this.#loading = false;
    this.#pump();
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
      for (const result of reply.results) {
        const job = slot.jobs[slot.reported++];
        if (job === undefined) break;
        const ms = result.cpu_ms ?? 0;
        this.#queue.charge(job.org, ms);
        this.#suspects.noteRun(job.line, result.ended === true || ms >= SLOW_MS);
        settle(job, result);
      }
      if (!reply.last) return;
      slot.jobs = [];
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
      this.#suspects.noteRun(blamed.line, true);
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
    this.#watch = undefined;
    const now = this.#options.clock.monotonic();
    for (const slot of this.#slots) {
      if (slot.jobs.length > 0) this.#lookAt(slot, now);
    }
    // Stop all or none: while any worker remains, the pool respawns the others.
    if (this.#queue.size === 0 && [...this.#slots].every((slot) => slot.ready && slot.jobs.length === 0 && now - slot.idleSince > IDLE_MS))
      for (const slot of this.#slots) this.#drop(slot);
    this.#scheduleLook();
  }

  #lookAt(slot: Slot, now: number): void {
    const { running, elapsed } = slot.look(now);
    if (running === 0) return;
    const job = slot.jobs[running - 1];
    if (elapsed >= SLOW_MS && job !== undefined) this.#suspects.add(job.line);
    if (elapsed >= LEAVE_MS && !slot.left) {
      this.#queue.restore(slot.leaveRest(running));
      this.#pump();
    }
    const { hard_ms, soft_ms } = this.#options.limits;
    if (elapsed >= hard_ms - HARD_MARGIN_MS) {
      if (elapsed > hard_ms * STARVED_TIMES) this.#end(slot, running);
      else slot.ifUsed(hard_ms - HARD_MARGIN_MS - LEAVE_MS, () => this.#end(slot, running));
    } else if (elapsed >= soft_ms * DOOMED_TIMES && !slot.doomed) slot.ifUsed(soft_ms * AT_WORK_PART, () => this.#doom(slot));
  }

  #doom(slot: Slot): void {
    slot.doomed = true;
    this.#pump();
  }

  #end(slot: Slot, running: number): void {
    const job = slot.jobs[running - 1];
    this.#drop(slot);
    slot.jobs = [];
    if (job !== undefined) {
      this.#queue.charge(job.org, this.#options.limits.hard_ms);
      this.#suspects.noteRun(job.line, true);
      settle(job, { error: `ended after ${this.#options.limits.hard_ms} ms`, ended: true });
    }
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
