/**
 * Stores settlements: the acknowledgement or the retry, together with its outcome. Events that are settled in one turn of the
 * event loop, such as those of one request, share one outcome record: a record per event would cost more than the event.
 */
import { hash } from 'node:crypto';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import type { Logger } from 'pino';
import { deadLetterTopic } from '../../event-record.ts';
import { outcomeAppend } from '../../outcomes/outcome-log.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Append, Delivery, EventLog } from '../../stores/event-log/port.ts';
import type { Tap } from '../../tap/port.ts';
import type { HeldEvent, Settlement } from './settlement.ts';
import { outcomeOf, tapFrameOf } from './settlement-outcome.ts';

export interface SettlementWriterDeps {
  log: Pick<EventLog, 'ackAll'>;
  clock: Clock;
  logger: Logger;
  tap: Tap;
  deadLetterRetentionMs: number;
  /** Appends that the next write carries along: the count of the daily limit. */
  alongside: () => Append[];
}
interface Entry {
  delivery: Delivery;
  outcome: Outcome;
  settlement: Settlement;
  written: () => void;
}

/** Most outcomes in one record. */
const MAX_GROUP = 128;
const RETRY_WRITE_MS = 500;

export class SettlementWriter {
  readonly #deps: SettlementWriterDeps;
  readonly #integrationId: string;
  #entries: Entry[] = [];
  #scheduled = false;
  #stopped = false;
  #warned = false;

  constructor(deps: SettlementWriterDeps, integrationId: string) {
    this.#deps = deps;
    this.#integrationId = integrationId;
  }

  /** Resolves when the settlement is stored, or when the writer stopped before that; the event then comes again from the log. */
  write(held: HeldEvent, settlement: Settlement): Promise<void> {
    const { clock, deadLetterRetentionMs, tap } = this.#deps;
    const outcome = outcomeOf(held, settlement, clock.now(), deadLetterRetentionMs);
    if (tap.watched(outcome.org_id)) tap.emit(outcome.org_id, tapFrameOf(held, settlement));
    return new Promise((written) => {
      this.#entries.push({ delivery: held.delivery, outcome, settlement, written });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    });
  }

  /** Gives up writes that fail from now on. */
  stop(): void {
    this.#stopped = true;
  }

  #flush(): void {
    this.#scheduled = false;
    const entries = this.#entries;
    this.#entries = [];
    const acknowledged: Entry[] = [];
    const retried: Entry[] = [];
    for (const entry of entries) {
      if (entry.settlement.kind === 'retry') retried.push(entry);
      else if (entry.outcome.kind === 'dead_lettered') this.#writeDeadLetter(entry, entry.outcome);
      else acknowledged.push(entry);
    }
    for (const group of groupsOf(acknowledged)) {
      const deliveries = group.map(({ delivery }) => delivery);
      const appends = this.#appendsFor(group);
      void this.#insist(group, () => this.#deps.log.ackAll(deliveries, { appends }));
    }
    for (const group of groupsOf(retried)) {
      // All outcomes go with the first retry, so that an engine without transactions stores them before any of the others:
      // an event that is counted twice is better than one without an outcome.
      let appends = this.#appendsFor(group);
      for (const entry of group) {
        const own = appends;
        appends = [];
        void this.#insist([entry], () => retry(entry, own));
      }
    }
  }

  #appendsFor(group: Entry[]): Append[] {
    const outcomes = group.map(({ outcome }) => outcome);
    return [outcomeAppend(groupId(group, this.#integrationId), outcomes), ...this.#deps.alongside()];
  }

  /** Each dead letter is stored with its own acknowledgement, so that no other write's failure can lose it. */
  #writeDeadLetter(entry: Entry, outcome: Extract<Outcome, { kind: 'dead_lettered' }>): void {
    const { dead_letter } = outcome;
    const id = `${entry.delivery.record.id}#${this.#integrationId}#dead`;
    const letter = { topic: deadLetterTopic(this.#integrationId), records: [{ id, data: Buffer.from(JSON.stringify(dead_letter)) }] };
    const appends = [letter, outcomeAppend(id, [outcome]), ...this.#deps.alongside()];
    void this.#insist([entry], () => entry.delivery.ack(appends));
    const { event_id, stage, reason } = dead_letter;
    this.#deps.logger.debug({ integration_id: this.#integrationId, event_id, stage, reason }, 'dead letter');
  }

  /** Retries the write until it succeeds: the vendor already has these events. */
  async #insist(entries: Entry[], write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await write();
        this.#warned = false;
        break;
      } catch (error) {
        if (!this.#warned) this.#deps.logger.warn({ err: error, integration_id: this.#integrationId }, 'settlement not written, retrying');
        this.#warned = true;
        if (this.#stopped) break;
        await new Promise((resolve) => setTimeout(resolve, RETRY_WRITE_MS));
      }
    }
    for (const { written } of entries) written();
  }
}

function retry({ delivery, settlement }: Entry, appends: Append[]): Promise<void> {
  return settlement.kind === 'retry' ? delivery.retryIn(settlement.delay_ms, settlement.state, appends) : delivery.ack(appends);
}

function groupsOf(entries: Entry[]): Entry[][] {
  if (entries.length === 0) return [];
  if (entries.length <= MAX_GROUP) return [entries];
  const groups: Entry[][] = [];
  for (let from = 0; from < entries.length; from += MAX_GROUP) groups.push(entries.slice(from, from + MAX_GROUP));
  return groups;
}

/**
 * A repeat after a crash must have the same id. The id covers all members: after a crash the first one may come in other
 * company, and under its id alone the log would drop the others' outcomes as duplicates.
 */
function groupId(group: Entry[], integrationId: string): string {
  const ids = group.map(({ delivery, settlement }) => `${delivery.record.id}#${integrationId}#${stepOf(settlement)}`);
  const [first] = ids;
  return ids.length === 1 && first !== undefined ? first : `${integrationId}#${hash('sha256', ids.join('\n'), 'base64url')}`;
}
function stepOf(settlement: Settlement): string {
  return settlement.kind === 'retry' ? `retry${settlement.state.attempts.length}` : settlement.kind;
}
