/**
 * One integration at work: what the log hands out is gated, built, batched, sent and settled. Nothing here is shared
 * with another integration, so none can hold another up. It holds few events: while its window is full it takes no
 * further ones, and the rest waits in the log.
 */
import type { DropReason } from '@firsthand/core/outcome/outcome.ts';
import type { Built } from '@firsthand/core/vendor/compiled.ts';
import type { HealthStatus } from '../../channels.ts';
import { type DecodedEventRecord, eventJson } from '../../event-record.ts';
import { errorText } from '../../runtime/error-text.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { Delivery } from '../../stores/event-log/port.ts';
import { Batcher, MAX_BATCH_ITEMS } from './batcher.ts';
import type { WorkerDeps } from './deps.ts';
import { EventSource } from './event-source.ts';
import { type Job, newJob, type Part, retryStateOf, settlementOf } from './job.ts';
import { Limiter } from './limiter.ts';
import { type Mode, modeOf, type Plan, planOf } from './plan.ts';
import type { RecordCache } from './record-cache.ts';
import { ReplayRevisions } from './replay-revisions.ts';
import { SendQueue } from './send-queue.ts';
import { SettlementWriter } from './settlement-writer.ts';
import { unreadable } from './unreadable-record.ts';

/** What is in hand has been read and mapped, and lives in memory until it is settled: no more than keeps the sender busy. */
const MIN_WINDOW = 32;
const SOME_BATCHES = 2_000;

export class Worker {
  readonly id: string;
  readonly pipelineId: string;
  readonly #deps: WorkerDeps;
  readonly #cache: RecordCache;
  readonly #settler: SettlementWriter;
  readonly #limiter: Limiter;
  readonly #sender: SendQueue;
  readonly #batcher: Batcher;
  readonly #byteBudget: () => number;
  readonly #shared: () => boolean;
  readonly #revisions: ReplayRevisions;
  readonly #consumers: EventSource;
  #plan: Plan;
  #mode: Mode;
  #window = MIN_WINDOW;
  #held = 0;
  #heldBytes = 0;
  /** Nothing further is taken. */
  #stopping = false;
  /** What was handed out is let go. */
  #stopped = false;
  #wake: (() => void)[] = [];
  #resizing: Promise<void> | undefined;
  #restarting = false;

  constructor(
    deps: WorkerDeps,
    compiled: CompiledIntegration,
    shared: { cache: RecordCache; byteBudget: () => number; sharesPipeline: () => boolean },
  ) {
    const { integration } = compiled;
    this.id = integration.id;
    this.pipelineId = integration.pipeline_id;
    this.#deps = deps;
    this.#cache = shared.cache;
    this.#byteBudget = shared.byteBudget;
    this.#shared = shared.sharesPipeline;
    this.#plan = planOf(compiled);
    this.#revisions = new ReplayRevisions(deps);
    this.#limiter = new Limiter(deps, this.id);
    this.#settler = new SettlementWriter(
      { ...deps, deadLetterRetentionMs: deps.settings.deadLetterRetentionMs },
      this.id,
      (delivery) => this.#release(delivery),
      () => this.#limiter.record(),
    );
    this.#sender = new SendQueue(deps, this.id, this.#limiter, {
      finished: (job) => this.#settle(job),
      moved: () => this.#notify(),
      unwritten: () => this.#settler.unwritten,
    });
    this.#batcher = new Batcher((batch) => this.#sender.push(batch));
    this.#mode = modeOf(compiled);
    this.#configure();
    const source = { id: this.id, pipelineId: this.pipelineId, createdAt: new Date(integration.created_at) };
    this.#consumers = new EventSource(deps.log, source, (topic, deliveries, replay) => this.#handle(topic, deliveries, replay));
    this.#consumers.begin(this.#window);
  }

  get compiled(): CompiledIntegration {
    return this.#plan.compiled;
  }

  /** The next events go by this configuration; what is on its way finishes by the one it was built with. */
  update(compiled: CompiledIntegration): void {
    if (compiled === this.#plan.compiled) return;
    this.#plan = planOf(compiled);
    this.#revisions.clear();
    this.#switch(modeOf(compiled));
    this.#configure();
    this.#batcher.flush();
    this.#sender.pump();
    if (!this.#consumers.fit(this.#window)) this.#resizing ??= this.#resize();
  }
  /** Deleted, or its pipeline: everything that waits ends with this reason, retries without their wait. */
  retire(reason: DropReason): void {
    this.#switch({ kind: 'drop', reason });
    void this.#consumers.hurry();
  }
  /** Begins to read the replays; once begun it goes on. */
  replay(): void {
    if (this.#consumers.replaying || this.#stopping) return;
    if (this.#restarting) this.#consumers.replaying = true;
    else this.#consumers.beginReplays();
  }

  /** Takes nothing further; what is at the vendor may finish until `graceMs` have passed, the rest comes again from the log. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#sender.stop();
    this.#batcher.clear();
    this.#sender.clear();
    const now = () => this.#deps.clock.monotonic();
    const until = now() + graceMs;
    while (this.#sender.active > 0 && now() < until) await this.#changed(until - now());
    await Promise.race([this.#settler.drained(), pause(Math.max(100, until - now()))]);
    this.#settler.stop();
    // Only now: what a consumer has not settled when it stops is handed to the next one at once.
    this.#stopped = true;
    this.#notify();
    await this.#resizing;
    await this.#consumers.stop();
  }
  /** After `stop`: removes every trace from the log. */
  async forget(): Promise<void> {
    await this.#consumers.remove();
    await this.#limiter.forget();
  }

  waiting(): Promise<{ waiting: number; oldest: number | undefined }> {
    return this.#consumers.waiting();
  }
  /** Nothing in hand: all that was taken is settled, and that is written. */
  get idle(): boolean {
    return this.#held === 0;
  }
  get status(): { status: HealthStatus; until?: number } {
    if (this.#mode.kind === 'wait') return { status: 'misconfigured' };
    if (this.#limiter.heldUntil !== undefined) return { status: 'paused', until: this.#limiter.heldUntil };
    const { lastError, lastSuccessAt } = this.#sender;
    return { status: lastError && lastError.at > (lastSuccessAt ?? 0) ? 'failing' : 'ok' };
  }
  get last(): { successAt: number | undefined; error: { at: number; reason: string } | undefined } {
    return { successAt: this.#sender.lastSuccessAt, error: this.#sender.lastError };
  }
  expireLimits(): Promise<void> {
    return this.#limiter.expire();
  }

  /** Larger batches need more events in hand. What is in hand is settled first: a new consumer would get it again. */
  async #resize(): Promise<void> {
    while (this.#held > 0 && !this.#stopped) await this.#changed();
    if (!this.#stopped && !this.#stopping) {
      const stopping = this.#consumers.stop();
      this.#restarting = true;
      this.#notify();
      await stopping;
      this.#restarting = false;
      if (!this.#stopping) this.#consumers.begin(this.#window);
    }
    this.#resizing = undefined;
    this.#notify();
  }
  #configure(): void {
    const { compiled } = this.#plan;
    const { vendor } = compiled;
    this.#limiter.configure(compiled);
    const items = Math.min(vendor?.batch?.max_items ?? 1, MAX_BATCH_ITEMS);
    // Several batches under way while the next one fills; of very large ones just one.
    const batches = Math.max(2 * items, Math.min(8 * items, SOME_BATCHES));
    this.#window = Math.max(MIN_WINDOW, 2 * (vendor?.concurrency ?? 1), batches);
  }
  #switch(mode: Mode): void {
    this.#mode = mode;
    if (mode.kind === 'drop') {
      const parts = [...this.#batcher.clear(), ...this.#sender.clear()];
      for (const job of new Set(parts.map((part) => part.job))) this.#giveUp(job, parts, mode.reason);
    }
    this.#notify();
  }
  /** A job with another item still at the vendor is settled by that one's answer. */
  #giveUp(job: Job, parts: Part[], reason: DropReason): void {
    job.open -= parts.filter((part) => part.job === job).length;
    if (job.open === 0) this.#settler.drop(job.delivery, job.decoded, reason, job.replay);
  }

  async #handle(topic: string, deliveries: Delivery[], replay: boolean): Promise<void> {
    for (const delivery of deliveries) {
      while (this.#blocked) {
        // Full of half-filled batches and nothing under way: waiting longer would help nobody.
        if (this.#sender.quiet && !this.#stopping) this.#batcher.flush();
        if (this.#blocked) await this.#changed();
      }
      if (this.#stopped || this.#restarting) return;
      const decoded = this.#decode(topic, delivery, replay);
      if (decoded === undefined) continue;
      const revision = decoded.meta.revision_number;
      if (revision === undefined || !replay) this.#take(delivery, decoded, this.#plan, replay);
      else await this.#takeThrough(revision, delivery, decoded);
    }
  }
  get #blocked(): boolean {
    if (this.#stopped || this.#restarting) return false;
    if (this.#stopping || this.#mode.kind === 'wait' || this.#resizing) return true;
    return this.#held >= this.#window || (this.#held > 0 && this.#heldBytes >= this.#byteBudget());
  }

  #decode(topic: string, delivery: Delivery, replay: boolean): DecodedEventRecord | undefined {
    this.#held++;
    this.#heldBytes += delivery.record.data.length;
    try {
      return this.#cache.decode(topic, delivery.record, !replay && this.#shared(), this.#plan.reads);
    } catch (error) {
      const { compiled } = this.#plan;
      const reason = `the stored event cannot be read: ${errorText(error)}`;
      this.#settler.deadLetter(delivery, unreadable(delivery.record, compiled.integration), compiled, 'mapping', reason, [], replay);
      return undefined;
    }
  }
  /** A replay by a revision that is not the pinned one. */
  async #takeThrough(revision: number, delivery: Delivery, decoded: DecodedEventRecord): Promise<void> {
    const plan = await this.#revisions.get(revision, this.#plan, () => this.#stopped);
    if (this.#stopped) return;
    if (plan.compiled.vendor) {
      this.#take(delivery, decoded, plan, true);
      return;
    }
    const faults = plan.compiled.faults.map(({ field, message }) => `${field}: ${message}`).join('; ');
    this.#settler.deadLetter(delivery, decoded, plan.compiled, 'mapping', `revision ${revision} cannot be used: ${faults}`, [], true);
  }
  #take(delivery: Delivery, decoded: DecodedEventRecord, plan: Plan, replay: boolean): void {
    const built = this.#decide(delivery, decoded, plan);
    switch (built.kind) {
      case 'items':
        this.#enqueue(newJob(delivery, decoded, plan.compiled, replay, built.items));
        break;
      case 'dropped':
        this.#settler.drop(delivery, decoded, built.reason, replay);
        break;
      case 'failed': {
        const attempts = retryStateOf(delivery.state)?.attempts ?? [];
        this.#settler.deadLetter(delivery, decoded, plan.compiled, 'mapping', built.reason, attempts, replay);
      }
    }
  }
  #decide(delivery: Delivery, decoded: DecodedEventRecord, plan: Plan): Built {
    if (this.#mode.kind === 'drop') return { kind: 'dropped', reason: this.#mode.reason };
    const reason = plan.gate?.(decoded.event);
    if (reason !== undefined) return { kind: 'dropped', reason };
    const vendor = plan.compiled.vendor!;
    if (vendor.verbatim) return { kind: 'items', items: [vendor.verbatim(eventJson(delivery.record.data), decoded.event_id)] };
    try {
      const built = vendor.build(decoded.event, { now: this.#deps.clock.now() });
      return built.kind === 'items' && built.items.length === 0 ? { kind: 'dropped', reason: 'mapping_default' } : built;
    } catch (error) {
      return { kind: 'failed', reason: `the mapping broke: ${errorText(error)}` };
    }
  }
  #enqueue(job: Job): void {
    const vendor = job.compiled.vendor!;
    const { items, done } = job;
    const parts: Part[] = [];
    for (let index = 0; index < items.length; index++) if (!done.includes(index)) parts.push({ job, index, item: items[index]! });
    if (parts.length === 0) parts.push({ job, index: 0, item: items[0]! });
    job.open = parts.length;
    for (const part of parts) this.#batcher.add(part, vendor);
  }

  #settle(job: Job): void {
    const settlement = settlementOf(job);
    switch (settlement.kind) {
      case 'delivered':
        this.#settler.delivered(job);
        break;
      case 'retry':
        this.#settler.retry(job, settlement.delay_ms, settlement.reason);
        break;
      case 'dead_letter': {
        const attempts = [...job.attempts, job.attempt!];
        this.#settler.deadLetter(job.delivery, job.decoded, job.compiled, 'delivery', settlement.reason, attempts, job.replay);
      }
    }
  }
  #release(delivery: Delivery): void {
    this.#held--;
    this.#heldBytes -= delivery.record.data.length;
    this.#sender.pump();
    this.#notify();
  }

  #notify(): void {
    if (this.#wake.length === 0) return;
    for (const wake of this.#wake.splice(0)) wake();
  }
  #changed(withinMs?: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake.push(resolve);
      if (withinMs !== undefined) setTimeout(resolve, Math.max(0, withinMs)).unref();
    });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
