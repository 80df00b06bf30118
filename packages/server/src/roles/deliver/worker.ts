/**
 * Delivers one integration's events. Each event walks one chain:
 *
 *   log → decide                                    record-intake.ts
 *         decide → batch → send → conclude          dispatch.ts
 *                                 conclude → log    settlement-writer.ts
 *
 * The worker joins these stages, configures them, and starts and stops them. Nothing here is shared with another integration, so none can
 * delay another. Memory is bounded by the window: while it is full, events stay in the log.
 */
import type { DropReason } from '@firsthand/core/outcome/outcome.ts';
import type { HealthStatus } from '../../channels.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { StoredRecord } from '../../stores/event-log/port.ts';
import { ChangeSignal } from './change-signal.ts';
import type { SharedByWorkers, WorkerDeps } from './deps.ts';
import { Dispatch } from './dispatch.ts';
import { EventSource } from './event-source.ts';
import { Health } from './health.ts';
import { HeldEvents } from './held-events.ts';
import { isOver, LaneEnd } from './lane-end.ts';
import { groupOf, isInLane, type Lane, onlyLane } from './lanes.ts';
import { Limiter } from './limiter.ts';
import { type Mode, modeOf, planOf } from './plan.ts';
import { RecordIntake } from './record-intake.ts';
import { ReplayRevisions } from './replay-revisions.ts';
import { SealedBatches } from './sealed-batches.ts';
import { mostUnstored } from './send-queue.ts';
import type { HeldEvent } from './settlement.ts';
import { SettlementWriter } from './settlement-writer.ts';
import type { WorkerContext } from './worker-context.ts';
import { WorkerLife } from './worker-state.ts';

const MIN_WRITE_MS = 100;

export class Worker {
  /** The integration's. It has a worker per lane. */
  readonly id: string;
  /** The group that this worker reads with. */
  readonly group: string;
  readonly pipelineId: string;
  readonly #deps: WorkerDeps;
  readonly #context: WorkerContext;
  readonly #limiter: Limiter;
  readonly #health = new Health();
  readonly #laneEnd = new LaneEnd();
  readonly #source: EventSource;
  readonly #intake: RecordIntake;
  readonly #dispatch: Dispatch;
  #resizing: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(deps: WorkerDeps, compiled: CompiledIntegration, shared: SharedByWorkers, lane: Lane = onlyLane(compiled.integration.id)) {
    const { integration } = compiled;
    this.id = integration.id;
    this.group = groupOf(lane);
    this.pipelineId = integration.pipeline_id;
    this.#deps = deps;
    this.#limiter = new Limiter(deps, this.id);
    this.#context = {
      id: this.id,
      lane,
      plan: planOf(compiled),
      mode: modeOf(compiled),
      life: new WorkerLife(),
      held: new HeldEvents(),
      revisions: new ReplayRevisions(deps),
      sealed: new SealedBatches(deps, this.group, (batch) => void this.#dispatch.resend(batch)),
      writer: this.#newWriter(),
      signal: new ChangeSignal(),
    };
    this.#dispatch = new Dispatch(deps, this.#context, this.#limiter, this.#health);
    const createdAt = new Date(Math.max(Date.parse(integration.created_at), lane.from));
    const origin = { id: this.id, group: this.group, pipelineId: this.pipelineId, createdAt };
    this.#source = new EventSource(
      deps.log,
      origin,
      (topic, deliveries, replay) => this.#intake.take(topic, deliveries, replay),
      shared.hasLanes ? (record) => this.#includes(record) : undefined,
    );
    const stages = { source: this.#source, laneEnd: this.#laneEnd, dispatch: this.#dispatch };
    this.#intake = new RecordIntake(this.#context, { clock: deps.clock, shared, ...stages });
    this.#shareRate();
    this.#configure();
    this.#source.start(this.#context.held.window);
  }
  #newWriter(): SettlementWriter {
    const { deadLetterRetentionMs } = this.#deps.settings;
    const alongside = () => this.#limiter.record();
    const written = (settled: readonly { held: HeldEvent }[]) => this.#release(settled);
    // Most of what may be unstored: 8 of 10 by default. Half of it took more writes, a quarter more of NATS's CPU, and was slower.
    const together = () => Math.ceil(0.8 * mostUnstored(this.compiled.vendor?.concurrency ?? 1, this.lane, 1));
    return new SettlementWriter({ ...this.#deps, deadLetterRetentionMs, alongside, written, together }, this.id, this.group);
  }
  /** The end of the chain: the log has these settlements. */
  #release(settled: readonly { held: HeldEvent }[]): void {
    const { held: window, sealed, signal } = this.#context;
    for (const { held } of settled) {
      if (held.sealed !== undefined) sealed.released(held.sealed);
      window.remove(held.delivery, held.replay);
    }
    this.#dispatch.stored(settled);
    signal.notify();
  }

  get compiled(): CompiledIntegration {
    return this.#context.plan.compiled;
  }
  waiting(): Promise<{ waiting: number; oldest: number | undefined }> {
    return this.#source.waiting();
  }
  /** True if every taken event is settled and stored. */
  get idle(): boolean {
    return this.#context.held.empty;
  }
  /** `reason`: why it cannot run at all. */
  get status(): { status: HealthStatus; until?: number; reason?: string } {
    return this.#health.status(this.#context.mode, this.#source.startError, this.#limiter.heldUntil);
  }
  get last(): Pick<Health, 'successAt' | 'error'> {
    return this.#health;
  }

  // The lane

  get lane(): Lane {
    return this.#context.lane;
  }
  #includes(record: StoredRecord): boolean {
    const { to } = this.lane;
    if (to !== undefined && record.time >= to) return this.#laneEnd.isMark(record, to);
    return isInLane(this.lane, record, this.compiled.vendor?.ordering);
  }
  /** True when every record of a lane that has an end was tried. Retries may wait. */
  hasPassed(): boolean {
    return this.#laneEnd.reached && !this.#context.held.hasFirstAttempt;
  }
  /** Call when it is stored that the lane has passed, or when the integration is deleted. */
  settleMarks(): Promise<void> {
    return this.#laneEnd.settle();
  }
  /** True when no record of a lane that has an end waits any more, and none will come. */
  async isFinished(): Promise<boolean> {
    const { to } = this.lane;
    if (to === undefined || !this.#laneEnd.over || this.#context.held.hasFirstAttempt) return false;
    const { waiting, oldest } = await this.#source.waitingEvents();
    return waiting === 0 || (oldest !== undefined && isOver(oldest, to));
  }
  /** After `stop`: removes the lane's group and its open batches. */
  async forgetLane(): Promise<void> {
    await this.#source.removeGroup();
    await this.#context.sealed.forget();
  }

  // Configuration

  /** Events use this configuration from now on, held ones too; requests in flight finish with the one they were built with. */
  update(compiled: CompiledIntegration, lane: Lane = this.lane): void {
    this.#context.lane = lane;
    this.#shareRate();
    if (compiled === this.compiled) return;
    this.#context.plan = planOf(compiled);
    this.#context.revisions.clear();
    this.#switch(modeOf(compiled));
    this.#configure();
    this.#fitConsumers();
    this.#dispatch.renew();
  }
  /** The integration or its pipeline was deleted: every waiting event is dropped with this reason, retries without their delay. */
  retire(reason: DropReason): void {
    this.#switch({ kind: 'drop', reason });
    this.#source.skipRetryDelays();
    this.#fitConsumers();
  }
  /** There are replays to read. */
  replay(): void {
    if (this.#context.life.active) this.#source.startReplays();
  }
  expireLimits(): Promise<void> {
    return this.#limiter.expire();
  }
  #shareRate(): void {
    const { generation, to } = this.lane;
    if (generation > 0 || to !== undefined) this.#limiter.shared ??= this.#deps.rateLimits.limiter('deliver', { credit: false });
  }
  #configure(): void {
    const { vendor } = this.compiled;
    this.#limiter.configure(this.compiled);
    this.#source.keepOrder(vendor?.ordering !== undefined);
    this.#context.held.fitWindow(vendor);
  }
  #switch(mode: Mode): void {
    this.#context.mode = mode;
    if (mode.kind === 'drop') this.#dispatch.drop(mode.reason);
    this.#context.signal.notify();
  }
  #fitConsumers(): void {
    const { life, held } = this.#context;
    if (life.state !== 'running' || this.#source.fits(held.window)) return;
    life.enter('resizing');
    this.#resizing = this.#restartConsumers();
  }
  /** Held events are settled first: a new consumer would get them again. */
  async #restartConsumers(): Promise<void> {
    const { life, held, signal } = this.#context;
    while (!held.empty && life.state === 'resizing') await signal.changed();
    if (life.state !== 'resizing') return;
    const stopping = this.#source.stop();
    signal.notify();
    await stopping;
    // `stop` may have been called while the consumers were stopping.
    if (life.state !== 'resizing') return;
    life.enter('running');
    this.#source.start(held.window);
    signal.notify();
    this.#fitConsumers();
  }

  // The end

  /** Requests at the vendor may finish within `graceMs`; everything else is redelivered by the log. */
  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#drain(graceMs);
    return this.#stopping;
  }
  async #drain(graceMs: number): Promise<void> {
    const { life, signal, writer, sealed } = this.#context;
    life.enter('draining');
    this.#dispatch.stop();
    const now = () => this.#deps.clock.monotonic();
    const until = now() + graceMs;
    while (this.#dispatch.inFlight > 0 && now() < until) await signal.changed(until - now());
    const written = Math.max(until, now() + MIN_WRITE_MS);
    while (writer.unwritten > 0 && now() < written) await signal.changed(written - now());
    writer.stop();
    sealed.stop();
    // Last: the log hands unsettled events to the next consumer as soon as this one stops.
    life.enter('stopped');
    const stopping = this.#source.stop();
    signal.notify();
    await this.#resizing;
    await stopping;
  }
  /** After `stop`: removes the integration's groups, replays and counts from the log. */
  async forget(): Promise<void> {
    await this.#source.remove();
    await this.#limiter.forget();
    await this.#context.sealed.forget();
  }
}
