import { SpaceWait } from '../../../runtime/space-wait.ts';
import { type Append, type AppendResult, LogUnavailable } from '../port.ts';
import { encodeRetry, type Settlement } from './group.ts';
import { metaKeys } from './keys.ts';
import type { SettlementJournal } from './settlement-journal.ts';
import { Transaction, type TransactionDeps, type Work } from './transaction.ts';

/** Above this size, a larger commit is no cheaper per record. */
const ENOUGH_WORK = 256;
const LONGEST_NAME = 500;
/** The id length is stored in 16 bits. */
const LONGEST_ID = 20_000;
/** Journaled settlements are committed with other work, or when this many records or this much time has accumulated. */
const ENOUGH_JOURNALED = 64;
const MAX_JOURNALED_MS = 20;
/** Bounds the number of records a power cut can repeat, and the memory used while the disk stalls. */
const MAX_JOURNALED = 1_000;
/** How often the wait of a full disk is looked at. */
const PROBE_MS = 250;
const PROBE_BYTES = Buffer.alloc(65_536);

/**
 * All writes go through here, one commit at a time. Work that arrives during a commit shares the next one. While the disk is full, appends
 * are rejected at once and settlements wait for space.
 */
export class GroupCommit {
  readonly #deps: TransactionDeps;
  readonly #journal: SettlementJournal | undefined;
  #queue: Work[] = [];
  /** Number of journaled records in the queue and in the running commit. */
  #journaled = 0;
  #committingJournaled = 0;
  /** The queue holds work that a caller waits for. */
  #urgent = false;
  #later: NodeJS.Timeout | undefined;
  #busy = false;
  #scheduled = false;
  #available = true;
  #probe: NodeJS.Timeout | undefined;
  readonly #space: SpaceWait;
  #idle: (() => void)[] = [];
  #closed = false;

  /** Without a journal for a log that settles nothing. */
  constructor(deps: TransactionDeps, journal?: SettlementJournal) {
    this.#deps = deps;
    this.#journal = journal;
    this.#space = new SpaceWait(deps.environment.path);
  }

  get available(): boolean {
    return this.#available && !this.#closed;
  }

  append(appends: Append[]): Promise<AppendResult[]> {
    if (!this.available) return Promise.reject(new LogUnavailable(this.#closed ? 'the log is closed' : 'the disk is full'));
    const fault = faultOf(appends);
    if (fault) return Promise.reject(fault);
    return new Promise((resolve, reject) => this.#add({ kind: 'append', appends, results: undefined, resolve, reject }));
  }

  /** Writes that `save` starts before it returns are part of the same transaction. */
  settle(settlement: Settlement, save?: () => Promise<unknown>): Promise<void> {
    if (this.#closed) return Promise.reject(new LogUnavailable('the log is closed'));
    const { deliveries, retry, alongside } = settlement;
    const fault = faultOf(alongside.appends);
    if (fault) return Promise.reject(fault);
    if (save === undefined && this.#journalSettlement(settlement)) return Promise.resolve();
    const other = save?.();
    const [delivery] = deliveries;
    const settled = new Promise<void>((resolve, reject) => {
      const again = retry && {
        due: delivery!.group.dueIn(retry.delayMs),
        value: encodeRetry(delivery!.attempt + 1, delivery!.record.time, retry.state),
      };
      this.#add({ kind: 'settle', settlement, again, journaled: false, resolve, reject });
    });
    return other === undefined ? settled : Promise.all([settled, other]).then(() => undefined);
  }

  /** `prepare` reads, and returns the function that runs inside the transaction. */
  write(prepare: () => () => void): Promise<void> {
    if (this.#closed) return Promise.reject(new LogUnavailable('the log is closed'));
    return new Promise((resolve, reject) => this.#add({ kind: 'other', prepare, resolve, reject }));
  }

  /** Accepts no more work; resolves when all accepted work is stored. */
  async close(): Promise<void> {
    this.#closed = true;
    if (!this.#available) this.#giveUp();
    if (this.#busy || this.#queue.length > 0) {
      const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
      this.#schedule();
      await idle;
    }
    clearTimeout(this.#probe);
    this.#journal?.close();
  }

  #giveUp(): void {
    const left = this.#queue;
    this.#queue = [];
    for (const work of left) work.reject(new LogUnavailable('the log was closed while the disk was full'));
  }

  /** Returns true if the settlement is journaled: its caller need not wait for the commit. */
  #journalSettlement(settlement: Settlement): boolean {
    const { deliveries, journal, alongside } = settlement;
    if (
      journal !== true ||
      this.#journal === undefined ||
      !this.#available ||
      this.#journaled + this.#committingJournaled + deliveries.length > MAX_JOURNALED
    )
      return false;
    const settled: number[] = [];
    for (const { group, seq, retryDue } of deliveries) {
      if (retryDue !== undefined) return false;
      settled.push(group.number, seq);
    }
    if (!this.#journal.add({ settled, appends: alongside.appends })) return false;
    this.#queue.push({ kind: 'settle', settlement, again: undefined, journaled: true, resolve: nothing, reject: nothing });
    this.#journaled += deliveries.length;
    if (!this.#busy) this.#go();
    for (const delivery of deliveries) delivery.holder?.release(delivery);
    return true;
  }

  #add(work: Work): void {
    this.#queue.push(work);
    this.#urgent = true;
    if (this.#busy || !this.#available) return;
    // Usually one event loop turn makes one commit. Under overload a turn of appends may take a second, so they are committed earlier.
    // Other work comes in pieces that must share a commit.
    if (this.#queue.length >= ENOUGH_WORK && work.kind === 'append') void this.#commitNext();
    else this.#schedule();
  }
  #go(): void {
    if (this.#urgent || this.#journaled >= ENOUGH_JOURNALED || this.#closed) this.#schedule();
    else this.#later ??= setTimeout(() => void this.#commitNext(), MAX_JOURNALED_MS);
  }
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#commitNext();
    });
  }

  async #commitNext(): Promise<void> {
    if (this.#busy) return;
    // Always take the whole queue: work added together must be stored together.
    const works = this.#queue;
    this.#queue = [];
    if (works.length === 0 && this.#available) return;
    this.#busy = true;
    this.#urgent = false;
    this.#committingJournaled = this.#journaled;
    this.#journaled = 0;
    clearTimeout(this.#later);
    this.#later = undefined;
    this.#journal?.turn();
    const commit = new Transaction(this.#deps, works);
    try {
      const probing = !this.#available;
      const write = commit.prepare();
      await this.#deps.environment.commit(() => {
        write();
        if (probing) this.#deps.meta.put(metaKeys.probe, PROBE_BYTES);
      });
      this.#journal?.ended(true);
      commit.succeed();
      if (probing) this.#recovered();
    } catch (error) {
      this.#failed(commit, error as Error);
    }
    this.#busy = false;
    this.#committingJournaled = 0;
    // Start at the end of this turn: more work may be added, and small commits cost more per record.
    if (this.#queue.length > 0 && this.#available) this.#go();
    else if (this.#idle.length > 0 && this.#queue.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #recovered(): void {
    this.#available = true;
    this.#space.succeeded();
    // If the disk is full again, the probe stays. The next recovery removes it.
    this.write(() => () => void this.#deps.meta.remove(metaKeys.probe)).catch(nothing);
  }

  #failed(commit: Transaction, error: Error): void {
    const { works } = commit;
    commit.undo();
    this.#journal?.ended(false);
    this.#journaled += this.#committingJournaled;
    const full = error instanceof LogUnavailable;
    // Settlements wait for space, because rejecting them would deliver their records twice. Journaled settlements always stay: no caller
    // waits for them.
    const stays = (work: Work) => (work.kind === 'settle' && work.journaled) || (full && work.kind !== 'append');
    const refused = works.filter((work) => !stays(work));
    if (full) {
      this.#available = false;
      refused.push(...this.#queue.filter((work) => work.kind === 'append'));
    }
    this.#queue = [...works.filter(stays), ...this.#queue.filter((work) => !full || work.kind !== 'append')];
    for (const work of refused) work.reject(error);
    if (!full) return;
    if (this.#closed) this.#giveUp();
    else {
      this.#space.failed();
      this.#waitForSpace();
    }
  }

  #waitForSpace(): void {
    this.#probe = setTimeout(() => (this.#space.isOver() ? void this.#commitNext() : this.#waitForSpace()), PROBE_MS);
  }
}

function nothing(): void {}

/** Validates before the append joins a commit, because other callers share that commit. */
function faultOf(appends: Append[]): RangeError | undefined {
  for (const { topic, records } of appends) {
    if (topic === '' || topic.length > LONGEST_NAME) return new RangeError(`a topic's name has 1 to ${LONGEST_NAME} characters`);
    for (const { id } of records) if (id.length > LONGEST_ID) return new RangeError(`a record's id has at most ${LONGEST_ID} characters`);
  }
  return undefined;
}
