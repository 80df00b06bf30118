/**
 * Delivers one integration's events. Each event walks one chain, and every stage returns a value:
 *
 *   log → decide → batch → send → conclude → settle → log
 *
 * Nothing here is shared with another integration, so none can delay another. Memory is bounded by the window: while it is
 * full, events stay in the log.
 */
import type { DropReason } from '@firsthand/core/outcome/outcome.ts';
import type { HealthStatus } from '../../channels.ts';
import type { DecodedEventRecord } from '../../event-record.ts';
import { errorText } from '../../runtime/error-text.ts';
import { atStep } from '../../runtime/stall-watch.ts';
import { endLongTurn, finishInLongTurns, turns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { Delivery, StoredRecord } from '../../stores/event-log/port.ts';
import { AnswerSample } from './answer-sample.ts';
import { BatchTimer } from './batch-timer.ts';
import { type Batch, Batcher } from './batcher.ts';
import { ChangeSignal } from './change-signal.ts';
import { type Conclusion, conclude } from './conclude.ts';
import { type Decision, decide, decideInSteps } from './decide.ts';
import type { WorkerDeps } from './deps.ts';
import { EventSource } from './event-source.ts';
import { HeldEvents } from './held-events.ts';
import { batchId, type Job, nextAttempt, openParts, type Part } from './job.ts';
import { KeyOrder, orderKey } from './key-order.ts';
import { isOver, LaneEnd } from './lane-end.ts';
import { groupOf, isInLane, type Lane, laneConcurrency, onlyLane } from './lanes.ts';
import { Limiter } from './limiter.ts';
import { type Mode, modeOf, type Plan, planOf } from './plan.ts';
import type { RecordCache } from './record-cache.ts';
import { ReplayRevisions } from './replay-revisions.ts';
import { type Claim, closingVerdict, type RestoredBatch, SealedBatches } from './sealed-batches.ts';
import { SendQueue } from './send-queue.ts';
import type { HeldEvent, Settlement } from './settlement.ts';
import { SettlementWriter } from './settlement-writer.ts';
import { unreadable } from './unreadable-record.ts';
import { retryWhole, WholeRetries } from './whole-retries.ts';
import { WorkerLife } from './worker-state.ts';

/** A wait until tomorrow is checked again now and then, because the wall clock may be changed. */
const MAX_WAIT_MS = 60_000;
const RELOAD_LIMITS_MS = 1_000;
const MIN_WRITE_MS = 100;
/** Signing or compressing a larger request takes a turn of its own. */
const VERY_LARGE_REQUEST = 524_288;

export class Worker {
  /** The integration's. It has a worker per lane. */
  readonly id: string;
  /** The group that this worker reads with. */
  readonly group: string;
  readonly pipelineId: string;
  readonly #deps: WorkerDeps;
  readonly #shared: SharedByWorkers;
  readonly #life = new WorkerLife();
  readonly #limiter: Limiter;
  readonly #revisions: ReplayRevisions;
  readonly #source: EventSource;
  readonly #held = new HeldEvents();
  readonly #batcher: Batcher;
  readonly #queue: SendQueue;
  readonly #answers: AnswerSample;
  readonly #order = new KeyOrder();
  readonly #writer: SettlementWriter;
  readonly #sealed: SealedBatches;
  readonly #retries = new WholeRetries((batch) => this.#send([this.#withNewestVendor(batch)]));
  readonly #batchTimer: BatchTimer;
  readonly #signal = new ChangeSignal();
  #lane: Lane;
  readonly #laneEnd = new LaneEnd();
  #plan: Plan;
  #mode: Mode;
  /** Requests at the vendor. */
  #inFlight = 0;
  /** Events with a settlement that is not stored yet. */
  #unwritten = 0;
  #loadingLimits = false;
  #awaitsTurn = false;
  #pumpTimer: NodeJS.Timeout | undefined;
  #resizing: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #lastSuccessAt: number | undefined;
  #lastError: { at: number; reason: string } | undefined;

  constructor(deps: WorkerDeps, compiled: CompiledIntegration, shared: SharedByWorkers, lane: Lane = onlyLane(compiled.integration.id)) {
    const { integration } = compiled;
    this.id = integration.id;
    this.group = groupOf(lane);
    this.#lane = lane;
    this.pipelineId = integration.pipeline_id;
    this.#deps = deps;
    this.#shared = shared;
    this.#plan = planOf(compiled);
    this.#mode = modeOf(compiled);
    this.#revisions = new ReplayRevisions(deps);
    this.#limiter = new Limiter(deps, this.id);
    this.#queue = new SendQueue(this.#limiter);
    this.#answers = new AnswerSample(deps.clock);
    this.#batcher = new Batcher(() => deps.clock.monotonic());
    this.#batchTimer = new BatchTimer(
      () => deps.clock.monotonic(),
      () => {
        this.#send(this.#batcher.takeDue(deps.clock.monotonic()));
        this.#batchTimer.arm(this.#batcher.nextDue);
      },
    );
    const { deadLetterRetentionMs } = deps.settings;
    const alongside = () => this.#limiter.record();
    const written = (settled: readonly { held: HeldEvent }[]) => this.#release(settled);
    // No more than half of what may be unwritten, so that sending does not wait for it.
    const together = () => laneConcurrency(this.#plan.compiled.vendor?.concurrency ?? 1, this.#lane);
    this.#writer = new SettlementWriter({ ...deps, deadLetterRetentionMs, alongside, written, together }, this.id);
    this.#sealed = new SealedBatches(deps, this.group, (batch) => void this.#resend(batch));
    const createdAt = new Date(Math.max(Date.parse(integration.created_at), lane.from));
    const origin = { id: this.id, group: this.group, pipelineId: this.pipelineId, createdAt };
    this.#source = new EventSource(
      deps.log,
      origin,
      (topic, deliveries, replay) => this.#take(topic, deliveries, replay),
      shared.hasLanes ? (record) => this.#includes(record) : undefined,
    );
    this.#shareRate();
    this.#configure();
    this.#source.start(this.#held.window);
  }

  get compiled(): CompiledIntegration {
    return this.#plan.compiled;
  }
  get lane(): Lane {
    return this.#lane;
  }
  #includes(record: StoredRecord): boolean {
    const { to } = this.#lane;
    if (to !== undefined && record.time >= to) return this.#laneEnd.isMark(record, to);
    return isInLane(this.#lane, record, this.#plan.compiled.vendor?.ordering);
  }
  /** True when every record of a lane that has an end was tried. Retries may wait. */
  hasPassed(): boolean {
    return this.#laneEnd.reached && !this.#held.hasFirstAttempt;
  }
  /** Call when it is stored that the lane has passed, or when the integration is deleted. */
  settleMarks(): Promise<void> {
    return this.#laneEnd.settle();
  }
  /** True when no record of a lane that has an end waits any more, and none will come. */
  async isFinished(): Promise<boolean> {
    const { to } = this.#lane;
    if (to === undefined || !this.#laneEnd.over || this.#held.hasFirstAttempt) return false;
    const { waiting, oldest } = await this.#source.waitingEvents();
    return waiting === 0 || (oldest !== undefined && isOver(oldest, to));
  }
  /** After `stop`: removes the lane's group and its open batches. */
  async forgetLane(): Promise<void> {
    await this.#source.removeGroup();
    await this.#sealed.forget();
  }

  /** Events use this configuration from now on, held ones too; requests in flight finish with the one they were built with. */
  update(compiled: CompiledIntegration, lane: Lane = this.#lane): void {
    this.#lane = lane;
    this.#shareRate();
    if (compiled === this.#plan.compiled) return;
    this.#plan = planOf(compiled);
    this.#revisions.clear();
    this.#switch(modeOf(compiled));
    this.#configure();
    this.#fitConsumers();
    void this.#renewUnsent();
    // Corrected credentials need not wait for the next attempt.
    this.#send(this.#retries.takeAll().map((batch) => this.#withNewestVendor(batch)));
    // The limits may have changed.
    clearTimeout(this.#pumpTimer);
    this.#pumpTimer = undefined;
    this.#pump();
  }
  /** The integration or its pipeline was deleted: every waiting event is dropped with this reason, retries without their delay. */
  retire(reason: DropReason): void {
    this.#switch({ kind: 'drop', reason });
    this.#source.skipRetryDelays();
    this.#fitConsumers();
  }
  /** There are replays to read. */
  replay(): void {
    if (this.#life.active) this.#source.startReplays();
  }

  /** Requests at the vendor may finish within `graceMs`; everything else is redelivered by the log. */
  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#drain(graceMs);
    return this.#stopping;
  }
  async #drain(graceMs: number): Promise<void> {
    this.#life.enter('draining');
    clearTimeout(this.#pumpTimer);
    this.#batchTimer.stop();
    this.#order.takeWaiting();
    this.#batcher.takeAll();
    this.#queue.takeAll();
    this.#retries.takeAll();
    const now = () => this.#deps.clock.monotonic();
    const until = now() + graceMs;
    while (this.#inFlight > 0 && now() < until) await this.#signal.changed(until - now());
    const written = Math.max(until, now() + MIN_WRITE_MS);
    while (this.#unwritten > 0 && now() < written) await this.#signal.changed(written - now());
    this.#writer.stop();
    this.#sealed.stop();
    // Last: the log hands unsettled events to the next consumer as soon as this one stops.
    this.#life.enter('stopped');
    const stopping = this.#source.stop();
    this.#signal.notify();
    await this.#resizing;
    await stopping;
  }
  /** After `stop`: removes the integration's groups, replays and counts from the log. */
  async forget(): Promise<void> {
    await this.#source.remove();
    await this.#limiter.forget();
    await this.#sealed.forget();
  }

  waiting(): Promise<{ waiting: number; oldest: number | undefined }> {
    return this.#source.waiting();
  }
  /** True if every taken event is settled and stored. */
  get idle(): boolean {
    return this.#held.empty;
  }
  /** `reason`: why it cannot run at all. */
  get status(): { status: HealthStatus; until?: number; reason?: string } {
    if (this.#mode.kind === 'wait') return { status: 'misconfigured' };
    const { startError } = this.#source;
    if (startError !== undefined) return { status: 'failing', reason: `its events cannot be read: ${errorText(startError)}` };
    if (this.#limiter.heldUntil !== undefined) return { status: 'paused', until: this.#limiter.heldUntil };
    return { status: this.#lastError && this.#lastError.at > (this.#lastSuccessAt ?? 0) ? 'failing' : 'ok' };
  }
  get last(): { successAt: number | undefined; error: { at: number; reason: string } | undefined } {
    return { successAt: this.#lastSuccessAt, error: this.#lastError };
  }
  expireLimits(): Promise<void> {
    return this.#limiter.expire();
  }

  // Configuration

  #shareRate(): void {
    const { generation, to } = this.#lane;
    if (generation > 0 || to !== undefined) this.#limiter.shared ??= this.#deps.rateLimits.limiter('deliver', { credit: false });
  }
  #configure(): void {
    const { vendor } = this.#plan.compiled;
    this.#limiter.configure(this.#plan.compiled);
    this.#source.keepOrder(vendor?.ordering !== undefined);
    this.#held.fitWindow(vendor);
  }
  #switch(mode: Mode): void {
    this.#mode = mode;
    if (mode.kind === 'drop') {
      for (const held of [...this.#order.takeWaiting(), ...this.#sealed.takeWaiting()])
        this.#settle(held, { kind: 'dropped', reason: mode.reason });
      const batches = [...this.#batcher.takeAll(), ...this.#retries.takeAll(), ...this.#queue.takeAll()];
      for (const { job } of batches.flatMap(({ parts }) => parts)) {
        job.open--;
        // A job with another item at the vendor is settled by that item's verdict.
        if (job.open === 0) this.#finish(job, { kind: 'dropped', reason: mode.reason });
      }
    }
    this.#signal.notify();
  }
  #fitConsumers(): void {
    if (this.#life.state !== 'running' || this.#source.fits(this.#held.window)) return;
    this.#life.enter('resizing');
    this.#resizing = this.#restartConsumers();
  }
  /** Held events are settled first: a new consumer would get them again. */
  async #restartConsumers(): Promise<void> {
    while (!this.#held.empty && this.#life.state === 'resizing') await this.#signal.changed();
    if (this.#life.state !== 'resizing') return;
    const stopping = this.#source.stop();
    this.#signal.notify();
    await stopping;
    // `stop` may have been called while the consumers were stopping.
    if (this.#life.state !== 'resizing') return;
    this.#life.enter('running');
    this.#source.start(this.#held.window);
    this.#signal.notify();
    this.#fitConsumers();
  }

  // The chain

  async #take(topic: string, deliveries: Delivery[], replay: boolean): Promise<void> {
    for (const delivery of deliveries) {
      if (!replay && delivery.attempt === 1 && this.#isBehindEnd(delivery)) continue;
      // Mapping and sending share the slices of background work: a backlog of one integration does not delay the others.
      const turn = turns.next();
      if (turn !== undefined) await turn;
      while (this.#full && !this.#source.closing) {
        // The window is full of half-filled batches and nothing is in flight: send them, or nothing would ever move.
        if (this.#inFlight === 0 && this.#queue.empty && this.#life.active) this.#send(this.#batcher.takeAll());
        if (this.#full) await this.#signal.changed();
      }
      if (this.#source.closing) return;
      this.#held.add(delivery, replay);
      atStep('deliver', this.id);
      const decoded = this.#decode(topic, delivery, replay);
      if (decoded === undefined) continue;
      // The events behind it in the log wait meanwhile, so the order stays.
      const isVeryLarge = delivery.record.data.length > VERY_LARGE_BYTES;
      if (isVeryLarge) await endLongTurn();
      if (this.#plan.compiled.vendor?.transport?.sealed) {
        const loading = this.#sealed.load();
        if (loading) await loading;
        const held = { delivery, decoded, compiled: this.#plan.compiled, replay };
        const claim = this.#sealed.claim(held);
        if (claim !== undefined) {
          await this.#restore(held, claim);
          continue;
        }
      }
      const revision = replay ? decoded.shared.revision_number : undefined;
      const plan =
        revision === undefined ? this.#plan : await this.#revisions.get(revision, this.#plan, () => this.#life.state === 'stopped');
      if (this.#stopped) return;
      const held = { delivery, decoded, compiled: plan.compiled, replay };
      if (!isVeryLarge) this.#start(held, decide(held, plan, this.#mode, this.#deps.clock.now()));
      else {
        const decision = await finishInLongTurns(decideInSteps(held, plan, this.#mode, this.#deps.clock.now()), () =>
          atStep('map', this.id),
        );
        if (this.#stopped) return;
        this.#start(held, decision);
      }
    }
  }
  /** Another lane has this record. */
  #isBehindEnd(delivery: Delivery): boolean {
    const { to } = this.#lane;
    if (to === undefined || delivery.record.time < to) return false;
    this.#laneEnd.reach(delivery, to);
    return true;
  }
  /** A method, because it may change at every `await`. */
  get #stopped(): boolean {
    return this.#life.state === 'stopped';
  }
  get #full(): boolean {
    const gathering = this.#sealed.waiting;
    // A restart of the consumers waits for the held events, and these may wait for the rest of an interrupted batch.
    const taking = this.#life.state === 'running' || (this.#life.state === 'resizing' && gathering);
    if (!taking || this.#mode.kind === 'wait') return true;
    // The consumer's own limit bounds an interrupted batch. It had room before, but the budget may have become smaller.
    return !gathering && this.#held.isFull(this.#shared.byteBudget);
  }
  #decode(topic: string, delivery: Delivery, replay: boolean): DecodedEventRecord | undefined {
    try {
      return this.#shared.cache.decode(topic, delivery.record, !replay && this.#shared.sharesPipeline(), this.#plan.readsEvent);
    } catch (error) {
      const { compiled } = this.#plan;
      const decoded = unreadable(delivery.record, compiled.integration);
      const reason = `the stored event cannot be read: ${errorText(error)}`;
      this.#settle({ delivery, decoded, compiled, replay }, { kind: 'dead_letter', stage: 'mapping', reason, attempts: [] });
      return undefined;
    }
  }
  /** An event that was in a batch when an earlier process ended is settled, or sent with the same batch. */
  async #restore(held: HeldEvent, claim: Claim): Promise<void> {
    if (claim.kind === 'closed') this.#settle(held, claim.settlement);
    else if (claim.kind === 'complete') await this.#resend(claim.batch);
  }
  /** Sends the batch of an earlier process as it was. */
  async #resend({ members, revision, at }: RestoredBatch): Promise<void> {
    const plan = await this.#revisions.get(revision, this.#plan, () => this.#life.state === 'stopped');
    const parts: Part[] = [];
    for (const member of members) {
      const turn = turns.next();
      if (turn !== undefined) await turn;
      const held = { ...member, compiled: plan.compiled };
      const decision = decide(held, plan, this.#mode, at);
      if (decision.kind === 'settle') this.#settle(held, decision.settlement);
      else parts.push(...openParts(decision.job));
    }
    for (const some of Map.groupBy(parts, ({ item }) => item.lane).values()) {
      const vendor = some[0]?.job.vendor;
      const bytes = some.reduce((sum, { item }) => sum + item.size, 0);
      if (vendor) this.#send([this.#withNewestVendor({ compiled: plan.compiled, vendor, parts: some, bytes, attempt: 1, job: undefined })]);
    }
  }
  #start(held: HeldEvent, decision: Decision): void {
    if (decision.kind === 'settle') this.#settle(held, decision.settlement);
    else {
      const { job } = decision;
      job.order_key = orderKey(job);
      if (job.order_key === undefined || this.#order.enter(job.order_key, job)) this.#launch(job);
    }
  }
  #launch(job: Job): void {
    if (!this.#sendsRenewed(job)) void this.#launchNext(job.order_key);
  }
  /** Launches the next job of the key. A loop, because the newest configuration may settle all of them: tens of thousands may wait. */
  async #launchNext(key: string | undefined): Promise<void> {
    if (key === undefined) return;
    for (let next = this.#order.leave(key); next !== undefined && !this.#sendsRenewed(next); next = this.#order.leave(key)) {
      const turn = turns.next();
      if (turn !== undefined) await turn;
    }
  }
  /**
   * Sends the job with the newest configuration. A job that waited for its turn, its retry or a limit was built with an earlier one, whose
   * credentials may be revoked by now. False: the newest configuration settled the event without sending it.
   */
  #sendsRenewed(job: Job): boolean {
    const { compiled } = this.#plan;
    const pinned = job.replay && job.decoded.shared.revision_number !== undefined;
    let current = job;
    if (this.#mode.kind === 'drop' || (job.compiled !== compiled && !pinned && compiled.vendor !== undefined)) {
      const { delivery, decoded, replay, attempts, batch, order_key } = job;
      const held = { delivery, decoded, compiled, replay };
      const decision = decide(held, this.#plan, this.#mode, this.#deps.clock.now());
      if (decision.kind === 'settle') {
        this.#settle({ ...job, compiled }, decision.settlement);
        return false;
      }
      current = { ...decision.job, ...sameProgress(job, decision.job), attempts, batch, order_key };
    }
    for (const part of openParts(current)) this.#batch(part);
    return true;
  }
  /** Builds requests that wait for a limit or for their batch again. Sealed ones keep their content. */
  async #renewUnsent(): Promise<void> {
    const batches = [...this.#queue.takeAll(), ...this.#batcher.takeAll()];
    const unsent = new Map<Job, number>();
    for (const { vendor, parts } of batches)
      for (const { job } of vendor.transport?.sealed ? [] : parts) unsent.set(job, (unsent.get(job) ?? 0) + 1);
    // A job with another item at the vendor, or with a verdict, stays as it is until its next attempt.
    for (const [job, parts] of unsent) if (parts !== job.open || job.attempt !== undefined) unsent.delete(job);
    for (const batch of batches) {
      const parts = batch.parts.filter(({ job }) => !unsent.has(job));
      const bytes = parts.reduce((sum, { item }) => sum + item.size, 0);
      if (parts.length > 0) this.#send([this.#withNewestVendor({ ...batch, parts, bytes })]);
    }
    for (const job of unsent.keys()) {
      const turn = turns.next();
      if (turn !== undefined) await turn;
      // While stopping the events stay unsettled.
      if (!this.#life.active) return;
      this.#launch(job);
    }
    // A restart of the consumers waits for the held events, so no other event can complete their batches.
    if (this.#life.state === 'resizing') this.#send(this.#batcher.takeAll());
  }
  #batch(part: Part): void {
    this.#send(this.#batcher.add(part));
    if (part.job.vendor.batch !== null) this.#batchTimer.arm(this.#batcher.nextDue);
  }
  #send(batches: readonly Batch[]): void {
    if (batches.length === 0) return;
    for (const batch of batches) this.#queue.push(batch);
    this.#pump();
  }
  /** Sends every batch that the limits allow now. */
  #pump(hasTurn = false): void {
    let mayBuild = hasTurn;
    while (this.#life.active) {
      const isVeryLarge = this.#queue.nextBytes > VERY_LARGE_REQUEST;
      if (isVeryLarge && !mayBuild && this.#awaitTurn()) return;
      const next = this.#queue.next(this.#inFlight, this.#unwritten, this.#lane);
      if (next.kind === 'send') {
        void this.#deliver(next.batch);
        if (isVeryLarge) turns.tookLong();
        mayBuild = false;
      } else {
        if (next.kind === 'wait') this.#pumpIn(next.ms);
        else if (next.kind === 'load_limits') void this.#loadLimits();
        return;
      }
    }
  }
  /** A very large request is built in a turn of its own. It keeps its place, and the batches behind it wait. False: now. */
  #awaitTurn(): boolean {
    if (this.#awaitsTurn) return true;
    const turn = turns.next();
    if (turn === undefined) return false;
    this.#awaitsTurn = true;
    void turn.then(() => {
      this.#awaitsTurn = false;
      atStep('send', this.id);
      this.#pump(true);
    });
    return true;
  }
  async #deliver(batch: Batch): Promise<void> {
    const { vendor, parts, attempt, job, compiled } = batch;
    const { settings, attempts, sender } = this.#deps;
    this.#inFlight++;
    const requestId = (vendor.batch === null ? parts[0]?.item.event_id : undefined) ?? batchId(this.id, parts);
    const progress = parts[0]?.job.progress;
    const sealed = vendor.transport?.sealed === true;
    if (sealed && !(await this.#sealed.seal(requestId, parts, compiled.integration.revision_number))) return this.#abandon();
    const items = parts.map(({ item }) => item);
    const sent = await sender.send({ vendor, items, integration_id: this.id, attempt, progress, job }, requestId);
    const rules = {
      integrationId: this.id,
      retryBaseMs: settings.retryBaseMs,
      random: this.#deps.random(),
      keepAnswer: this.#answers.mayKeep(parts.length),
    };
    const { settled, sendAlone, error } = conclude(batch, sent, rules);
    const again = sealed && settled.length > 0 && settled.every(({ settlement }) => settlement.kind === 'retry');
    if (sealed && !again && !(await this.#sealed.close(requestId, closingVerdict(parts, settled), sent))) return this.#abandon();
    if (sendAlone.length === 0) {
      attempts.add(compiled.integration, sent.verdict.kind, sent.duration_ms);
      const at = sent.at + sent.duration_ms;
      if (error === undefined) this.#lastSuccessAt = at;
      else this.#lastError = { at, reason: error };
    }
    if (again) this.#retryWhole(batch, settled);
    else
      for (const { job, settlement } of settled) {
        this.#finish(job, settlement);
        // The events of a large file take longer than the event loop may be held.
        const turn = sealed ? turns.next() : undefined;
        if (turn !== undefined) await turn;
      }
    this.#inFlight--;
    for (const one of sendAlone) this.#queue.push(one);
    this.#pump();
    this.#signal.notify();
  }
  /** The process stops before the log could store what must come first. The events stay unsettled. */
  #abandon(): void {
    this.#inFlight--;
    this.#signal.notify();
  }
  #retryWhole(batch: Batch, settled: Conclusion['settled']): void {
    const { failed, next, delayMs } = retryWhole(batch, settled);
    if (this.#mode.kind === 'drop') {
      for (const { held } of failed) this.#finish(held, { kind: 'dropped', reason: this.#mode.reason });
      return;
    }
    this.#writer.writeWaiting(failed);
    // While stopping the events stay unsettled, and the next process sends the batch.
    if (this.#life.active) this.#retries.add(next, delayMs);
  }
  /** The rows of a sealed batch stay as they were built; address and credentials are those of the newest configuration. */
  #withNewestVendor(batch: Batch): Batch {
    const { vendor } = this.#plan.compiled;
    return vendor?.transport?.sealed ? { ...batch, vendor } : batch;
  }
  /** Settles the job, or keeps its place if later events must wait for it. */
  #finish(job: Job, settlement: Settlement): void {
    const { order_key: key } = job;
    if (key === undefined) this.#settle(job, settlement);
    else if (settlement.kind === 'retry' && this.#mode.kind !== 'drop') this.#waitInPlace(job, settlement);
    else {
      this.#settle(job, settlement);
      void this.#launchNext(key);
    }
  }
  #waitInPlace(job: Job, settlement: Extract<Settlement, { kind: 'retry' }>): void {
    this.#writer.writeWaiting([{ held: job, settlement }]);
    // While stopping the event stays unsettled, and the next process starts with it.
    if (!this.#life.active) return;
    this.#order.retryIn(settlement.delay_ms, nextAttempt(job, settlement.state), (again) => this.#launch(again));
  }
  #settle(held: HeldEvent | Job, settlement: Settlement): void {
    if (settlement.kind === 'dead_letter') this.#deps.attempts.addDeadLetter(held.compiled.integration);
    this.#unwritten++;
    this.#writer.write(held, settlement);
  }
  #release(settled: readonly { held: HeldEvent }[]): void {
    this.#unwritten -= settled.length;
    for (const { held } of settled) {
      if (held.sealed !== undefined) this.#sealed.released(held.sealed);
      this.#held.remove(held.delivery, held.replay);
    }
    this.#pump();
    this.#signal.notify();
  }

  // Timers

  #pumpIn(ms: number): void {
    this.#pumpTimer ??= setTimeout(
      () => {
        this.#pumpTimer = undefined;
        this.#pump();
      },
      Math.min(Math.ceil(ms), MAX_WAIT_MS),
    );
  }
  async #loadLimits(): Promise<void> {
    if (this.#loadingLimits) return;
    this.#loadingLimits = true;
    try {
      await this.#limiter.load();
    } catch (error) {
      this.#deps.logger.warn({ err: error, integration_id: this.id }, 'daily request count not readable, retrying');
      await pause(RELOAD_LIMITS_MS);
    }
    this.#loadingLimits = false;
    this.#pump();
  }
}

/** Items of another revision may be others, so what was done counts only for the same one. */
function sameProgress(job: Job, renewed: Job): Partial<Job> {
  const same = job.compiled.integration.revision_number === renewed.compiled.integration.revision_number;
  return same ? { done: job.done, progress: job.progress } : {};
}

/** What the workers of one process have in common. */
export interface SharedByWorkers {
  cache: RecordCache;
  /** Bytes of held events that one worker may have. */
  byteBudget: () => number;
  /** Whether several processes may deliver one integration. */
  hasLanes: boolean;
  /** Whether another integration of this process reads the same pipeline. */
  sharesPipeline: () => boolean;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
