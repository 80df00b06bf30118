/** The stages from the log to a decision: takes records while there is room in the window, decodes them and decides what happens to each. */
import type { DecodedEventRecord } from '../../event-record.ts';
import type { Clock } from '../../runtime/clock.ts';
import { errorText } from '../../runtime/error-text.ts';
import { atStep } from '../../runtime/stall-watch.ts';
import { finishInLongTurns, turns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';
import type { Delivery } from '../../stores/event-log/port.ts';
import { decide } from './decide.ts';
import type { SharedByWorkers } from './deps.ts';
import type { Dispatch } from './dispatch.ts';
import type { EventSource } from './event-source.ts';
import type { LaneEnd } from './lane-end.ts';
import { type Claim, sealsBatches } from './sealed-batches.ts';
import type { HeldEvent } from './settlement.ts';
import { unreadable } from './unreadable-record.ts';
import type { WorkerContext } from './worker-context.ts';

export interface RecordIntakeDeps {
  clock: Clock;
  shared: SharedByWorkers;
  source: EventSource;
  laneEnd: LaneEnd;
  dispatch: Dispatch;
}

export class RecordIntake {
  readonly #context: Readonly<WorkerContext>;
  readonly #clock: Clock;
  readonly #shared: SharedByWorkers;
  readonly #source: EventSource;
  readonly #laneEnd: LaneEnd;
  readonly #dispatch: Dispatch;

  constructor(context: Readonly<WorkerContext>, { clock, shared, source, laneEnd, dispatch }: RecordIntakeDeps) {
    this.#context = context;
    this.#clock = clock;
    this.#shared = shared;
    this.#source = source;
    this.#laneEnd = laneEnd;
    this.#dispatch = dispatch;
  }

  async take(topic: string, deliveries: Delivery[], replay: boolean): Promise<void> {
    const context = this.#context;
    for (const delivery of deliveries) {
      if (!replay && delivery.attempt === 1 && this.#isBehindEnd(delivery)) continue;
      // Mapping and sending share the slices of background work: a backlog of one integration does not delay the others.
      const turn = turns.next(context.plan.compiled.integration.org_id);
      if (turn !== undefined) await turn;
      while (this.#full && !this.#source.closing) {
        this.#dispatch.sendIfIdle();
        if (this.#full) await context.signal.changed();
      }
      if (this.#source.closing) return;
      context.held.add(delivery, replay);
      // The events behind it in the log wait meanwhile, so the order stays.
      const isLarge = delivery.record.data.length > VERY_LARGE_BYTES;
      const decoded = isLarge ? await this.#decodeInTurns(topic, delivery, replay) : this.#decode(topic, delivery, replay);
      if (decoded === undefined) continue;
      const revision = replay ? decoded.shared.revision_number : undefined;
      const { vendor, integration } = context.plan.compiled;
      if (vendor && sealsBatches(vendor)) {
        const loading = context.sealed.load();
        if (loading) await loading;
        const held = { delivery, decoded, compiled: context.plan.compiled, replay };
        const claim = context.sealed.claim(held, vendor.transport ? undefined : (revision ?? integration.revision_number));
        if (claim !== undefined) {
          await this.#restore(held, claim);
          continue;
        }
      }
      const plan = revision === undefined ? context.plan : await context.revisions.get(revision, context.plan, () => this.#stopped);
      if (this.#stopped) return;
      const held = { delivery, decoded, compiled: plan.compiled, replay };
      const decided = decide(held, plan, context.mode, this.#clock.now(), context.id);
      const decision = decided instanceof Promise ? await decided : decided;
      if (this.#stopped) return;
      this.#dispatch.start(held, decision);
    }
  }
  /** Another lane has this record. */
  #isBehindEnd(delivery: Delivery): boolean {
    const { to } = this.#context.lane;
    if (to === undefined || delivery.record.time < to) return false;
    this.#laneEnd.reach(delivery, to);
    return true;
  }
  /** A method, because it may change at every `await`. */
  get #stopped(): boolean {
    return this.#context.life.state === 'stopped';
  }
  get #full(): boolean {
    const { sealed, life, mode, held } = this.#context;
    const gathering = sealed.waiting;
    // A restart of the consumers waits for the held events, and these may wait for the rest of an interrupted batch.
    const taking = life.state === 'running' || (life.state === 'resizing' && gathering);
    if (!taking || mode.kind === 'wait') return true;
    // The consumer's own limit bounds an interrupted batch. It had room before, but the budget may have become smaller.
    return !gathering && held.isFull(this.#shared.byteBudget);
  }
  #decode(topic: string, delivery: Delivery, replay: boolean): DecodedEventRecord | undefined {
    atStep('deliver', this.#context.id);
    try {
      return this.#shared.cache.decode(topic, delivery.record, this.#others(delivery, replay), this.#context.plan.readsEvent);
    } catch (error) {
      return this.#refuse(delivery, replay, error);
    }
  }
  async #decodeInTurns(topic: string, delivery: Delivery, replay: boolean): Promise<DecodedEventRecord | undefined> {
    const { plan, id } = this.#context;
    try {
      const steps = this.#shared.cache.decodeInSteps(topic, delivery.record, this.#others(delivery, replay), plan.readsEvent);
      const decoded = await finishInLongTurns(steps, () => atStep('deliver', id));
      await turns.bulk();
      return decoded;
    } catch (error) {
      if (this.#stopped) return undefined;
      return this.#refuse(delivery, replay, error);
    }
  }
  /** Replays and retries are this integration's alone. */
  #others({ attempt }: Delivery, replay: boolean): number {
    return replay || attempt > 1 ? 0 : this.#shared.othersOfPipeline();
  }
  #refuse(delivery: Delivery, replay: boolean, error: unknown): undefined {
    const { writer, plan } = this.#context;
    const { compiled } = plan;
    const decoded = unreadable(delivery.record, compiled.integration);
    const reason = `the stored event cannot be read: ${errorText(error)}`;
    writer.write({ delivery, decoded, compiled, replay }, { kind: 'dead_letter', stage: 'mapping', reason, attempts: [] });
  }
  /** An event that was in a batch when an earlier process ended is settled, or sent with the same batch. */
  async #restore(held: HeldEvent, claim: Claim): Promise<void> {
    if (claim.kind === 'closed') this.#context.writer.write(held, claim.settlement);
    else if (claim.kind === 'complete') await this.#dispatch.resend(claim.batch);
  }
}
