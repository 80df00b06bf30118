/**
 * The stages from a decision to a settlement: the order of a key, the batch, the limits (`send-pump.ts`), the request and its conclusion.
 * What has to wait, waits in memory.
 */
import type { DropReason } from '@firsthand/core/outcome/outcome.ts';
import { turns } from '../../runtime/turns.ts';
import { AnswerSample } from './answer-sample.ts';
import { closingOf } from './batch-closing.ts';
import { BatchTimer } from './batch-timer.ts';
import { type Batch, Batcher } from './batcher.ts';
import { type Conclusion, conclude } from './conclude.ts';
import { type Decision, decide, decideUndivided } from './decide.ts';
import type { WorkerDeps } from './deps.ts';
import type { Health } from './health.ts';
import { batchId, type Job, nextAttempt, openParts, type Part } from './job.ts';
import { KeyOrder, orderKey } from './key-order.ts';
import type { Limiter } from './limiter.ts';
import { type Mode, type Plan, settleUnsent } from './plan.ts';
import { divideUnsent, isOutdated, renew, withNewestVendor } from './renew.ts';
import { isSealed, type RestoredBatch } from './sealed-batches.ts';
import { SendPump } from './send-pump.ts';
import type { HeldEvent, Settlement } from './settlement.ts';
import { retryWhole, WholeRetries } from './whole-retries.ts';
import type { WorkerContext } from './worker-context.ts';

export type DispatchDeps = Pick<WorkerDeps, 'clock' | 'random' | 'logger' | 'attempts' | 'sender' | 'settings'>;

export class Dispatch {
  readonly #deps: DispatchDeps;
  readonly #context: Readonly<WorkerContext>;
  readonly #health: Health;
  readonly #order = new KeyOrder();
  readonly #batcher: Batcher;
  readonly #batchTimer: BatchTimer;
  readonly #pump: SendPump;
  readonly #retries: WholeRetries;
  readonly #answers: AnswerSample;

  constructor(deps: DispatchDeps, context: Readonly<WorkerContext>, limiter: Limiter, health: Health) {
    this.#deps = deps;
    this.#context = context;
    this.#health = health;
    const monotonic = () => deps.clock.monotonic();
    this.#batcher = new Batcher(monotonic);
    this.#batchTimer = new BatchTimer(monotonic, () => {
      this.#pump.send(this.#batcher.takeDue(monotonic()));
      this.#batchTimer.arm(this.#batcher.nextDue);
    });
    this.#pump = new SendPump(deps, context, limiter, (batch) => this.#deliver(batch));
    this.#retries = new WholeRetries((batch) => this.#pump.send([withNewestVendor(batch, context.plan)]));
    this.#answers = new AnswerSample(deps.clock);
  }

  get inFlight(): number {
    return this.#pump.inFlight;
  }
  get #orgId(): string {
    return this.#context.plan.compiled.integration.org_id;
  }

  // Order and batch

  start(held: HeldEvent, decision: Decision): void {
    if (decision.kind === 'settle') this.#context.writer.write(held, decision.settlement);
    else {
      const { job } = decision;
      job.order_key = orderKey(job);
      if (job.order_key === undefined || this.#order.enter(job.order_key, job)) void this.#launch(job);
    }
  }
  /** Sends the batch of an earlier process as it was. */
  async resend({ members, revision, at }: RestoredBatch): Promise<void> {
    const { revisions, life, writer } = this.#context;
    const plan = await revisions.get(revision, this.#context.plan, () => life.state === 'stopped');
    const parts: Part[] = [];
    for (const member of members) {
      const turn = turns.next(this.#orgId);
      if (turn !== undefined) await turn;
      const held = { ...member, compiled: plan.compiled };
      const { mode, id } = this.#context;
      const decided = decide(held, plan, mode, at, id);
      const decision = decided instanceof Promise ? await decided : decided;
      if (life.state === 'stopped') return;
      if (decision.kind === 'settle') writer.write(held, decision.settlement);
      else parts.push(...openParts(decision.job));
    }
    for (const some of Map.groupBy(parts, ({ item }) => item.lane).values()) {
      const vendor = some[0]?.job.vendor;
      const bytes = some.reduce((sum, { item }) => sum + item.size, 0);
      const attempt = (some[0]?.job.attempts.length ?? 0) + 1;
      const batch = vendor && { compiled: plan.compiled, vendor, parts: some, bytes, attempt, job: undefined };
      if (batch) this.#pump.send([withNewestVendor(batch, this.#context.plan)]);
    }
  }
  /** A promise only where a very large event must be built again. */
  #launch(job: Job): undefined | Promise<void> {
    const sends = this.#sendsRenewed(job);
    return sends === true ? undefined : this.#launchNextUnless(sends, job.order_key);
  }
  async #launchNextUnless(sends: boolean | Promise<boolean>, key: string | undefined): Promise<void> {
    if (!(await sends)) await this.#launchNext(key);
  }
  /** Launches the next job of the key. A loop, because the newest configuration may settle all of them: tens of thousands may wait. */
  async #launchNext(key: string | undefined): Promise<void> {
    if (key === undefined) return;
    for (let next = this.#order.leave(key); next !== undefined && !(await this.#sendsRenewed(next)); next = this.#order.leave(key)) {
      const turn = turns.next(this.#orgId);
      if (turn !== undefined) await turn;
    }
  }
  /** Sends the job with the newest configuration. False: that configuration settled the event without sending it. */
  #sendsRenewed(job: Job): boolean | Promise<boolean> {
    const { plan, mode, id } = this.#context;
    if (!isOutdated(job, plan, mode)) return this.#sends(job);
    const decision = renew(job, plan, mode, this.#deps.clock.now(), id);
    return decision instanceof Promise ? this.#sendsLater(job, decision, plan, mode) : this.#sendsDecided(job, decision);
  }
  async #sendsLater(job: Job, later: Promise<Decision>, plan: Plan, mode: Mode): Promise<boolean> {
    const { life } = this.#context;
    const decision = await later;
    // While stopping the event stays unsettled.
    if (!life.active) return true;
    const isNewest = this.#context.plan === plan && this.#context.mode === mode;
    return isNewest ? this.#sendsDecided(job, decision) : this.#sendsRenewed(job);
  }
  #sendsDecided(job: Job, decision: Decision): boolean {
    if (decision.kind === 'send') return this.#sends(decision.job);
    this.#context.writer.write({ ...job, compiled: this.#context.plan.compiled }, decision.settlement);
    return false;
  }
  #sends(job: Job): true {
    for (const part of openParts(job)) this.#batch(part);
    return true;
  }
  #batch(part: Part): void {
    this.#pump.send(this.#batcher.add(part));
    if (part.job.vendor.batch !== null) this.#batchTimer.arm(this.#batcher.nextDue);
  }

  /** Where the window is full of half-filled batches and nothing is in flight: sends them, or nothing would ever move. */
  sendIfIdle(): void {
    if (this.#pump.idle && this.#context.life.active) this.#pump.send(this.#batcher.takeAll());
  }

  // Request and conclusion

  async #deliver(batch: Batch): Promise<void> {
    const { vendor, parts, attempt, job, compiled } = batch;
    const { settings, attempts, sender } = this.#deps;
    const { id, sealed } = this.#context;
    const requestId = (vendor.batch === null ? parts[0]?.item.event_id : undefined) ?? batchId(id, parts);
    const progress = parts[0]?.job.progress;
    const staysWhole = vendor.transport?.sealed === true;
    const sealId = !isSealed(batch) ? undefined : staysWhole ? requestId : `${requestId}~${attempt}`;
    if (sealId && !(await sealed.seal(sealId, parts, compiled.integration.revision_number))) return this.#abandon();
    const items = parts.map(({ item }) => item);
    const sent = await sender.send({ vendor, items, integration_id: id, attempt, progress, job }, requestId);
    const rules = {
      integrationId: id,
      retryBaseMs: settings.retryBaseMs,
      random: this.#deps.random(),
      keepAnswer: this.#answers.mayKeep(parts.length),
    };
    const { settled, sendAlone, error } = conclude(batch, sent, rules);
    const again = staysWhole && settled.length > 0 && settled.every(({ settlement }) => settlement.kind === 'retry');
    if (sealId && !again && !(await sealed.close(sealId, closingOf(parts, settled, sent)))) return this.#abandon();
    if (sendAlone.length === 0) {
      attempts.add(compiled.integration, sent.verdict.kind, sent.duration_ms);
      this.#health.note(sent.at + sent.duration_ms, error);
    }
    if (again) this.#retryWhole(batch, settled);
    else if (sealId)
      for (const { job, settlement } of settled) {
        this.#finish(job, settlement);
        // The events of a large file take longer than the event loop may be held.
        const turn = turns.next(this.#orgId);
        if (turn !== undefined) await turn;
      }
    else {
      const settling: HeldEvent[] = [];
      for (const { job, settlement } of settled) this.#finish(job, settlement, settling);
      this.#pump.settling(settling);
    }
    this.#pump.finished(sendAlone);
    this.#context.signal.notify();
  }
  /** The process stops before the log could store what must come first. The events stay unsettled. */
  #abandon(): void {
    this.#pump.finished([]);
    this.#context.signal.notify();
  }
  #retryWhole(batch: Batch, settled: Conclusion['settled']): void {
    const { mode, writer, life } = this.#context;
    const { failed, next, delayMs } = retryWhole(batch, settled);
    if (mode.kind === 'drop') {
      for (const { held } of failed) this.#finish(held, settleUnsent(held, mode.reason));
      return;
    }
    writer.writeWaiting(failed);
    // While stopping the events stay unsettled, and the next process sends the batch.
    if (life.active) this.#retries.add(next, delayMs);
  }
  /** Settles the job, or keeps its place if later events must wait for it. Adds what it settles to `settling`. */
  #finish(job: Job, settlement: Settlement, settling?: HeldEvent[]): void {
    const { mode, writer } = this.#context;
    const { order_key: key } = job;
    if (key !== undefined && settlement.kind === 'retry' && mode.kind !== 'drop') {
      this.#waitInPlace(job, settlement);
      return;
    }
    writer.write(job, settlement);
    settling?.push(job);
    if (key !== undefined) void this.#launchNext(key);
  }
  /** Call when settlements are stored. */
  stored(settled: readonly { held: HeldEvent }[]): void {
    this.#pump.stored(settled);
  }
  #waitInPlace(job: Job, settlement: Extract<Settlement, { kind: 'retry' }>): void {
    const { writer, life } = this.#context;
    writer.writeWaiting([{ held: job, settlement }]);
    // While stopping the event stays unsettled, and the next process starts with it.
    if (!life.active) return;
    this.#order.retryIn(settlement.delay_ms, nextAttempt(job, settlement.state), (again) => void this.#launch(again));
  }

  // Changes of the configuration

  /** Call when the plan has changed. Requests at the vendor finish with the configuration they were built with. */
  renew(): void {
    void this.#renewGathering();
    void this.#renewUnsent();
    // Corrected credentials need not wait for the next attempt.
    this.#pump.send(this.#retries.takeAll().map((batch) => withNewestVendor(batch, this.#context.plan)));
    // The limits may have changed.
    this.#pump.reconsider();
  }
  /** Sends events that wait for the rest of a batch of an earlier revision without it. Batches of a sealed transport keep their content. */
  async #renewGathering(): Promise<void> {
    const { sealed, revisions, life } = this.#context;
    const { vendor, integration } = this.#context.plan.compiled;
    if (vendor === undefined || vendor.transport?.sealed) return;
    for (const member of sealed.takeWaiting(integration.revision_number)) {
      const revision = member.replay ? member.decoded.shared.revision_number : undefined;
      const isStopped = () => life.state === 'stopped';
      const plan = revision === undefined ? this.#context.plan : await revisions.get(revision, this.#context.plan, isStopped);
      if (isStopped()) return;
      const held = { ...member, compiled: plan.compiled };
      this.start(held, decideUndivided(held, plan, this.#context.mode, this.#deps.clock.now()));
    }
  }
  /** Builds requests that wait for a limit or for their batch again. Sealed ones keep their content. */
  async #renewUnsent(): Promise<void> {
    const { life } = this.#context;
    const { jobs, kept } = divideUnsent([...this.#pump.takeAll(), ...this.#batcher.takeAll()]);
    this.#pump.send(kept.map((batch) => withNewestVendor(batch, this.#context.plan)));
    for (const job of jobs) {
      const turn = turns.next(this.#orgId);
      if (turn !== undefined) await turn;
      // While stopping the events stay unsettled.
      if (!life.active) return;
      const launching = this.#launch(job);
      if (launching !== undefined) await launching;
    }
    // A restart of the consumers waits for the held events, so no other event can complete their batches.
    if (life.state === 'resizing') this.#pump.send(this.#batcher.takeAll());
  }
  /** Settles everything that is not at the vendor. */
  drop(reason: DropReason): void {
    const { sealed, writer } = this.#context;
    for (const held of [...this.#order.takeWaiting(), ...sealed.takeWaiting()]) writer.write(held, settleUnsent(held, reason));
    const batches = [...this.#batcher.takeAll(), ...this.#retries.takeAll(), ...this.#pump.takeAll()];
    for (const { job } of batches.flatMap(({ parts }) => parts)) {
      job.open--;
      // A job with another item at the vendor is settled by that item's verdict.
      if (job.open === 0) this.#finish(job, settleUnsent(job, reason));
    }
  }
  /** Forgets everything that is not at the vendor: the log redelivers it. */
  stop(): void {
    this.#pump.stop();
    this.#batchTimer.stop();
    this.#order.takeWaiting();
    this.#batcher.takeAll();
    this.#retries.takeAll();
  }
}
