/**
 * Writes down what became of events: the acknowledgement or the retry, with its outcome. Events that finish
 * together, those of one request, share one outcome record, because a record an event would cost more than the event.
 */
import { hash } from 'node:crypto';
import type { DeadLetter, DeadLetterStage, DropReason, Outcome } from '@firsthand/core/outcome/outcome.ts';
import type { Logger } from 'pino';
import { type DecodedEventRecord, deadLetterTopic } from '../../event-record.ts';
import { outcomeAppend } from '../../outcomes/outcome-log.ts';
import type { Clock } from '../../runtime/clock.ts';
import { newId } from '../../runtime/ids.ts';
import type { CompiledIntegration } from '../../snapshot/types.ts';
import type { Append, Delivery, EventLog } from '../../stores/event-log/port.ts';
import type { Tap } from '../../tap/port.ts';
import type { Job, RetryState } from './job.ts';

export interface SettlementWriterDeps {
  log: Pick<EventLog, 'ackAll' | 'atomic'>;
  clock: Clock;
  logger: Logger;
  tap: Tap;
  deadLetterRetentionMs: number;
}
interface Entry {
  delivery: Delivery;
  outcome: Outcome;
  what: string;
  retry?: { delayMs: number; state: RetryState };
}

const GROUP = 128;
const AGAIN_MS = 500;

export class SettlementWriter {
  readonly #deps: SettlementWriterDeps;
  readonly #integrationId: string;
  readonly #settled: (delivery: Delivery) => void;
  readonly #extra: () => Append[];
  #entries: Entry[] = [];
  #scheduled = false;
  #writing = 0;
  #idle: (() => void)[] = [];
  #stopped = false;
  #complained = false;

  /** `settled` is called for each event once it is written; `extra` adds what must be written with the next group. */
  constructor(deps: SettlementWriterDeps, integrationId: string, settled: (delivery: Delivery) => void, extra: () => Append[]) {
    this.#deps = deps;
    this.#integrationId = integrationId;
    this.#settled = settled;
    this.#extra = extra;
  }

  delivered(job: Job): void {
    const { meta } = job.decoded;
    const now = this.#deps.clock.now();
    const attempt = job.attempt!;
    const outcome: Outcome = {
      kind: 'delivered',
      ...this.#aboutOne(job.decoded, now),
      integration_id: this.#integrationId,
      attempt,
      received_at: meta.received_at,
      duration_ms: Math.max(0, now - meta.received_at),
    };
    if (job.replay) outcome.replay = true;
    this.#add({ delivery: job.delivery, outcome, what: 'delivered' });
    this.#show(job.decoded, { stage: 'delivered', duration_ms: attempt.duration_ms, ...statusOf(attempt.status) });
  }

  retry(job: Job, delay_ms: number, reason: string): void {
    const now = this.#deps.clock.now();
    const attempt = job.attempt!;
    const state: RetryState = {
      v: 1,
      attempts: [...job.attempts, attempt],
      revision: job.compiled.integration.revision_number,
      ...(job.done.length > 0 ? { done: job.done } : {}),
      ...(job.batch ? { batch: job.batch } : {}),
    };
    const outcome: Outcome = {
      kind: 'retrying',
      ...this.#aboutOne(job.decoded, now),
      integration_id: this.#integrationId,
      attempt,
      due_at: now + delay_ms,
    };
    const what = `retry${state.attempts.length}`;
    this.#add({ delivery: job.delivery, outcome, what, retry: { delayMs: delay_ms, state } });
    this.#show(job.decoded, { stage: 'retrying', reason, duration_ms: attempt.duration_ms, ...statusOf(attempt.status) });
  }

  drop(delivery: Delivery, decoded: DecodedEventRecord, reason: DropReason, replay: boolean): void {
    const outcome: Outcome = {
      kind: 'dropped',
      reason,
      ...this.#about(decoded, this.#deps.clock.now()),
      integration_id: this.#integrationId,
      received_at: decoded.meta.received_at,
      ...(replay ? { replay } : {}),
    };
    this.#add({ delivery, outcome, what: 'dropped' });
    this.#show(decoded, { stage: 'dropped', reason });
  }

  /** Each dead letter is written with its own acknowledgement: it must not be lost where another's write fails. */
  deadLetter(
    delivery: Delivery,
    decoded: DecodedEventRecord,
    compiled: CompiledIntegration | undefined,
    stage: DeadLetterStage,
    reason: string,
    attempts: DeadLetter['attempts'],
    replay: boolean,
  ): void {
    const now = this.#deps.clock.now();
    const { event, meta } = decoded;
    const dead_letter: DeadLetter = {
      id: newId('dlq', now),
      org_id: meta.org_id,
      pipeline_id: meta.pipeline_id,
      integration_id: this.#integrationId,
      webhook_source_id: null,
      vendor: compiled?.integration.vendor ?? null,
      revision_number: compiled?.integration.revision_number ?? null,
      event_id: event.event_id,
      stage,
      event,
      attempts,
      reason,
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + this.#deps.deadLetterRetentionMs).toISOString(),
    };
    const outcome: Outcome = {
      kind: 'dead_lettered',
      ...this.#about(decoded, now),
      dead_letter,
      ...(replay ? { replay } : {}),
    };
    const id = `${delivery.record.id}#${this.#integrationId}#dead`;
    const letter = { topic: deadLetterTopic(this.#integrationId), records: [{ id, data: Buffer.from(JSON.stringify(dead_letter)) }] };
    const alongside = [letter, outcomeAppend(id, [outcome])];
    const extra = this.#extra();
    void this.#write([delivery], () => delivery.ack([...alongside, ...extra]));
    const last = attempts.at(-1);
    this.#show(decoded, { stage: 'dead_lettered', reason, ...(last ? { duration_ms: last.duration_ms, ...statusOf(last.status) } : {}) });
    this.#deps.logger.debug({ integration_id: this.#integrationId, event_id: event.event_id, stage, reason }, 'dead letter');
  }

  /** Events whose fate is known and not yet written. */
  get unwritten(): number {
    return this.#entries.length + this.#writing;
  }
  /** Resolves when everything handed in is written. */
  async drained(): Promise<void> {
    this.#flush();
    if (this.#writing > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
  /** No further tries at what cannot be written: it comes again from the log. */
  stop(): void {
    this.#stopped = true;
  }

  #aboutOne({ event_id, meta }: DecodedEventRecord, at: number) {
    return { at, org_id: meta.org_id, pipeline_id: meta.pipeline_id, event_id };
  }
  #about(decoded: DecodedEventRecord, at: number) {
    const { event } = decoded;
    return {
      ...this.#aboutOne(decoded, at),
      type: event.type,
      event: event.event,
      user_id: event.user_id,
      anonymous_id: event.anonymous_id,
    };
  }
  #add(entry: Entry): void {
    this.#entries.push(entry);
    if (this.#scheduled) return;
    this.#scheduled = true;
    // What a turn of the event loop brings, each answer in a callback of its own, is written together.
    setImmediate(() => this.#flush());
  }
  #flush(): void {
    this.#scheduled = false;
    const entries = this.#entries;
    this.#entries = [];
    const settled = entries.filter((entry) => entry.retry === undefined);
    this.#inGroups(settled, (group, appends) => {
      const deliveries = group.map(({ delivery }) => delivery);
      void this.#write(deliveries, () => this.#deps.log.ackAll(deliveries, { appends, soon: true }));
    });
    if (settled.length === entries.length) return;
    const retried = entries.filter((entry) => entry.retry !== undefined);
    this.#inGroups(retried, (group, appends) => {
      // With the first, so ahead of the others where the engine has no transaction: an event without an outcome is worse than one counted twice.
      for (const [i, { delivery, retry }] of group.entries())
        void this.#write([delivery], () => delivery.retryIn(retry!.delayMs, retry!.state, i === 0 ? appends : []));
    });
  }
  #inGroups(entries: Entry[], write: (group: Entry[], appends: Append[]) => void): void {
    for (let from = 0; from < entries.length; from += GROUP) {
      const group = entries.length <= GROUP ? entries : entries.slice(from, from + GROUP);
      const outcomes = group.map((entry) => entry.outcome);
      write(group, [outcomeAppend(groupId(group, this.#integrationId, this.#deps.log.atomic), outcomes), ...this.#extra()]);
    }
  }
  /** A settlement that cannot be written is tried until it can: the vendor has the event already. */
  async #write(deliveries: Delivery[], settle: () => Promise<void>): Promise<void> {
    this.#writing += deliveries.length;
    for (;;) {
      try {
        await settle();
        this.#complained = false;
        break;
      } catch (error) {
        if (!this.#complained)
          this.#deps.logger.warn({ err: error, integration_id: this.#integrationId }, 'a settlement cannot be written; trying on');
        this.#complained = true;
        if (this.#stopped) break;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
    this.#writing -= deliveries.length;
    for (const delivery of deliveries) this.#settled(delivery);
    if (this.#writing === 0 && this.#entries.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
  #show(decoded: DecodedEventRecord, frame: Omit<Parameters<Tap['emit']>[1], 'payload'>): void {
    const { meta } = decoded;
    if (!this.#deps.tap.watched(meta.org_id)) return;
    const { event } = decoded;
    this.#deps.tap.emit(meta.org_id, {
      ...frame,
      pipeline_id: meta.pipeline_id,
      integration_id: this.#integrationId,
      event_id: event.event_id,
      type: event.type,
      ...(event.event === undefined ? {} : { event: event.event }),
      payload: event,
    });
  }
}

/**
 * A repeat after a crash has the same id. A group's tells its members: the first one alone, in other company the next
 * time, would make the log drop the others' outcomes as known.
 */
function groupId(group: Entry[], integrationId: string, atomic: boolean): string {
  const idOf = ({ delivery, what }: Entry) => `${delivery.record.id}#${integrationId}#${what}`;
  // Where nothing can come twice, any will do.
  if (atomic || group.length === 1) return idOf(group[0]!);
  return `${integrationId}#${hash('sha256', group.map(idOf).join('\n'), 'base64url')}`;
}

function statusOf(status: number | null): { status?: number } {
  return status === null ? {} : { status };
}
