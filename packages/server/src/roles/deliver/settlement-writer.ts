/**
 * Stores settlements: the acknowledgement or the retry, together with its outcome. Events that are settled in one turn of the
 * event loop, such as those of one request, share one outcome record: a record per event would cost more than the event.
 */
import { hash } from 'node:crypto';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import type { Logger } from 'pino';
import { deadLetterTopic } from '../../event-record.ts';
import { outcomeBytesAppend, outcomeTextAppend } from '../../outcomes/outcome-log.ts';
import type { Clock } from '../../runtime/clock.ts';
import { atStep } from '../../runtime/stall-watch.ts';
import { endLongTurn, turns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';
import { type Append, type EventLog, RecordTooLarge } from '../../stores/event-log/port.ts';
import type { Tap } from '../../tap/port.ts';
import type { AttemptCounts } from './attempt-counts.ts';
import type { HeldEvent, Settlement } from './settlement.ts';
import { deadLetterBytes, eventJsonOf, hasOutcome, outcomeOf, outcomeText, tapFrameOf, withoutEvent } from './settlement-outcome.ts';

export interface SettlementWriterDeps {
  log: Pick<EventLog, 'append' | 'ackAll' | 'atomic'>;
  clock: Clock;
  logger: Logger;
  tap: Tap;
  attempts: Pick<AttemptCounts, 'addDeadLetter'>;
  deadLetterRetentionMs: number;
  /** Appends that the next write carries along: the count of the daily limit. */
  alongside: () => Append[];
  /** This many settlements are written at once. Fewer wait a moment for others where a write costs a message. */
  together: () => number;
  /** Called once for every settlement: it is stored, or the writer stopped before that and the event comes again from the log. */
  written: (settled: readonly { held: HeldEvent }[]) => void;
}
interface Entry {
  held: HeldEvent;
  settlement: Settlement;
  /** Milliseconds since 1970. */
  at: number;
}

/** Most outcomes in one record. */
const MAX_GROUP = 128;
const RETRY_WRITE_MS = 500;
/** How long settlements wait for others on a log without transactions. */
const GATHER_MS = 4;

export class SettlementWriter {
  readonly #deps: SettlementWriterDeps;
  readonly #integrationId: string;
  /** Each deliverer of a busy integration has its own, so their outcomes are recorded beside each other. */
  readonly #group: string;
  #entries: Entry[] = [];
  #unwritten = 0;
  /** When the entries are written: at the end of this turn of the event loop, or soon. */
  #scheduled: 'now' | 'soon' | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #warned = false;

  constructor(deps: SettlementWriterDeps, integrationId: string, group: string) {
    this.#deps = deps;
    this.#integrationId = integrationId;
    this.#group = group;
  }

  /** Events with a settlement that is not stored yet. */
  get unwritten(): number {
    return this.#unwritten;
  }
  write(held: HeldEvent, settlement: Settlement): void {
    if (settlement.kind === 'dead_letter') this.#deps.attempts.addDeadLetter(held.compiled.integration);
    this.#unwritten++;
    this.#entries.push(this.#entryOf(held, settlement));
    if (this.#scheduled === 'now') return;
    if (this.#deps.log.atomic || this.#stopped || this.#entries.length >= this.#deps.together()) {
      this.#scheduled = 'now';
      clearTimeout(this.#timer);
      setImmediate(() => this.#flush());
    } else if (this.#scheduled === undefined) {
      this.#scheduled = 'soon';
      this.#timer = setTimeout(() => this.#flush(), GATHER_MS);
    }
  }

  /** Stores the outcomes of retries that keep their place in memory; the events themselves stay unsettled. */
  writeWaiting(waiting: { held: HeldEvent; settlement: Extract<Settlement, { kind: 'retry' }> }[]): void {
    const { log } = this.#deps;
    const entries = waiting.map(({ held, settlement }) => this.#entryOf(held, settlement));
    for (const group of groupsOf(entries)) {
      const outcomes = this.#outcomesOf(group);
      const [first] = group;
      if (first === undefined) continue;
      // After a restart the attempts start anew, and their outcomes are told apart by time.
      const id = `${entryId(first, this.#integrationId)}@${first.at}`;
      void this.#insist([], async () => void (await log.append([outcomeTextAppend(log, this.#group, id, outcomes)])));
    }
  }

  #entryOf(held: HeldEvent, settlement: Settlement): Entry {
    const { clock, tap } = this.#deps;
    const { org_id } = held.decoded.shared;
    if (tap.watched(org_id) && hasOutcome(settlement)) tap.emit(org_id, tapFrameOf(held, settlement));
    return { held, settlement, at: clock.now() };
  }
  /** Their JSON, with commas between them. A list of texts would be copied when it is joined, and again when that is encoded. */
  #outcomesOf(group: readonly Entry[]): string {
    let texts = '';
    for (const { held, settlement, at } of group) {
      const text = outcomeText(held, settlement, at, this.#deps.deadLetterRetentionMs);
      if (text !== undefined) texts += texts === '' ? text : `,${text}`;
    }
    return texts;
  }

  /** Gives up writes that fail from now on. */
  stop(): void {
    this.#stopped = true;
  }

  #flush(): void {
    this.#scheduled = undefined;
    const entries = this.#entries;
    this.#entries = [];
    const acknowledged: Entry[] = [];
    const retried: Entry[] = [];
    const dead: Entry[] = [];
    for (const entry of entries) {
      if (entry.settlement.kind === 'retry' || entry.settlement.kind === 'accepted') retried.push(entry);
      else if (entry.settlement.kind === 'dead_letter') dead.push(entry);
      else acknowledged.push(entry);
    }
    if (dead.length > 0) void this.#writeDeadLetters(dead);
    for (const group of groupsOf(acknowledged)) {
      const deliveries = group.map(({ held }) => held.delivery);
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
        void this.#insist([entry], () => this.#retry(entry, own));
      }
    }
  }

  /** An event that the log takes, but not together with the state of its retry, would be repeated for ever: it is given up. */
  async #retry(entry: Entry, appends: Append[]): Promise<void> {
    const { held, settlement } = entry;
    if (settlement.kind !== 'retry' && settlement.kind !== 'accepted') return held.delivery.ack(appends);
    try {
      await held.delivery.retryIn(settlement.delay_ms, settlement.state, appends);
    } catch (error) {
      if (!(error instanceof RecordTooLarge)) throw error;
      const { attempts } = settlement.state;
      const dead = { kind: 'dead_letter', stage: 'delivery', reason: `cannot wait for a retry: ${error.message}`, attempts } as const;
      const outcome = outcomeOf(held, dead, entry.at, this.#deps.deadLetterRetentionMs);
      this.#deps.attempts.addDeadLetter(held.compiled.integration);
      if (outcome?.kind === 'dead_lettered') await this.#storeDeadLetter(held, outcome, appends);
    }
  }

  #appendsFor(group: Entry[]): Append[] {
    const outcomes = this.#outcomesOf(group);
    if (outcomes === '') return this.#deps.alongside();
    const { log } = this.#deps;
    const id = groupId(group, this.#integrationId, log.atomic);
    return [outcomeTextAppend(log, this.#group, id, outcomes), ...this.#deps.alongside()];
  }

  /** Writing a large event takes milliseconds, and many may fail at once. */
  async #writeDeadLetters(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
      atStep('dead letter', this.#integrationId);
      const isVeryLarge = entry.held.delivery.record.data.length > VERY_LARGE_BYTES;
      // Reading the event parses it, and keeps it until another one is parsed.
      if (isVeryLarge && entry.held.decoded.event !== undefined) await endLongTurn();
      const outcome = outcomeOf(entry.held, entry.settlement, entry.at, this.#deps.deadLetterRetentionMs);
      if (outcome?.kind === 'dead_lettered') this.#writeDeadLetter(entry, outcome);
      if (isVeryLarge) turns.tookLong();
    }
  }

  /** Each dead letter is stored with its own acknowledgement, so that no other write's failure can lose it. */
  #writeDeadLetter(entry: Entry, outcome: Extract<Outcome, { kind: 'dead_lettered' }>): void {
    const { event_id, stage, reason } = outcome.dead_letter;
    const more = this.#deps.alongside();
    void this.#insist([entry], () => this.#storeDeadLetter(entry.held, outcome, more));
    this.#deps.logger.debug({ integration_id: this.#integrationId, event_id, stage, reason }, 'dead letter');
  }
  async #storeDeadLetter(held: HeldEvent, outcome: Extract<Outcome, { kind: 'dead_lettered' }>, more: readonly Append[]): Promise<void> {
    const { delivery } = held;
    const id = `${delivery.record.id}#${this.#integrationId}#dead`;
    const { log, logger } = this.#deps;
    const integration_id = this.#integrationId;
    const ack = (dead: typeof outcome, event: Uint8Array) => {
      const { letter, outcomes } = deadLetterBytes(dead, event);
      const append = { topic: deadLetterTopic(integration_id), records: [{ id, data: letter }] };
      return delivery.ack([append, outcomeBytesAppend(log, this.#group, id, outcomes), ...more]);
    };
    try {
      await ack(outcome, eventJsonOf(held));
    } catch (error) {
      if (!(error instanceof RecordTooLarge)) throw error;
      const { event_id } = outcome;
      logger.warn({ err: error, integration_id, event_id }, 'dead letter stored without its event: too large for the log');
      const less = withoutEvent(outcome);
      await ack(less, Buffer.from(JSON.stringify(less.dead_letter.event)));
    }
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
    this.#unwritten -= entries.length;
    this.#deps.written(entries);
  }
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
function groupId(group: Entry[], integrationId: string, atomic: boolean): string {
  const [first] = group;
  // With one transaction per settlement nothing comes twice, and the id of the first member is unique.
  if (first !== undefined && (atomic || group.length === 1)) return entryId(first, integrationId);
  return `${integrationId}#${hash('sha256', group.map((entry) => entryId(entry, integrationId)).join('\n'), 'base64url')}`;
}
function entryId({ held: { delivery }, settlement }: Entry, integrationId: string): string {
  return `${delivery.record.id}#${integrationId}#${stepOf(settlement)}`;
}
function stepOf(settlement: Settlement): string {
  return 'state' in settlement ? `${settlement.kind}${settlement.state.attempts.length}` : settlement.kind;
}
