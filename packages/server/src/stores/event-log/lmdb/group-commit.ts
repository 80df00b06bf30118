import { type Append, type AppendResult, LogUnavailable } from '../port.ts';
import { encodeRetry, type Settlement } from './group.ts';
import { metaKeys } from './keys.ts';
import type { SettlementJournal } from './settlement-journal.ts';
import { Transaction, type TransactionDeps, type Work } from './transaction.ts';

/** A commit of so much is as good as a larger one. */
const ENOUGH_WORK = 256;
const LONGEST_NAME = 500;
/** Its bytes are counted in 16 bits. */
const LONGEST_ID = 20_000;
/** What is noted waits for company: for other work, for so many records, or for so long. */
const ENOUGH_NOTED = 64;
const LONGEST_NOTED_MS = 5;
/** A bound on what a power cut can repeat, and on what is held in memory while the disk stands still. */
const MOST_NOTED = 1_000;
const PROBE_MS = 250;
const PROBE_BYTES = Buffer.alloc(65_536);

/**
 * Everything that is written goes through here, one commit at a time: what arrives while one is under way shares the
 * next. Where the disk is full appends are refused at once, and settlements wait for space.
 */
export class GroupCommit {
  readonly #deps: TransactionDeps;
  readonly #journal: SettlementJournal;
  #queue: Work[] = [];
  /** Records in the queue, and in the commit under way, whose settlement is noted. */
  #noted = 0;
  #notedUnderWay = 0;
  /** There is other work in the queue. */
  #urgent = false;
  #later: NodeJS.Timeout | undefined;
  #busy = false;
  #scheduled = false;
  #available = true;
  #probe: NodeJS.Timeout | undefined;
  #idle: (() => void)[] = [];
  #closed = false;

  constructor(deps: TransactionDeps, journal: SettlementJournal) {
    this.#deps = deps;
    this.#journal = journal;
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

  /** What `save` writes here before it returns is in the same transaction. */
  settle(settlement: Settlement, save?: () => Promise<unknown>): Promise<void> {
    if (this.#closed) return Promise.reject(new LogUnavailable('the log is closed'));
    const { deliveries, retry, alongside } = settlement;
    const fault = faultOf(alongside.appends);
    if (fault) return Promise.reject(fault);
    if (save === undefined && this.#note(settlement)) return Promise.resolve();
    const other = save?.();
    const [delivery] = deliveries;
    const settled = new Promise<void>((resolve, reject) => {
      const again = retry && {
        due: delivery!.group.dueIn(retry.delayMs),
        value: encodeRetry(delivery!.attempt + 1, delivery!.record.time, retry.state),
      };
      this.#add({ kind: 'settle', settlement, again, noted: false, resolve, reject });
    });
    return other === undefined ? settled : Promise.all([settled, other]).then(() => undefined);
  }

  /** `prepare` reads and returns what then runs inside the transaction. */
  write(prepare: () => () => void): Promise<void> {
    if (this.#closed) return Promise.reject(new LogUnavailable('the log is closed'));
    return new Promise((resolve, reject) => this.#add({ kind: 'other', prepare, resolve, reject }));
  }

  /** Takes nothing more; resolves when what was taken is stored. */
  async close(): Promise<void> {
    this.#closed = true;
    if (!this.#available) this.#giveUp();
    if (this.#busy || this.#queue.length > 0) {
      const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
      this.#schedule();
      await idle;
    }
    clearTimeout(this.#probe);
    this.#journal.close();
  }

  #giveUp(): void {
    const left = this.#queue;
    this.#queue = [];
    for (const work of left) work.reject(new LogUnavailable('the log was closed while the disk was full'));
  }

  /** Whoever need not know it on disk does not wait for the commit, where it can be noted. */
  #note(settlement: Settlement): boolean {
    const { deliveries, journal, alongside } = settlement;
    if (journal !== true || !this.#available || this.#noted + this.#notedUnderWay + deliveries.length > MOST_NOTED) return false;
    const settled: number[] = [];
    for (const { group, seq, retryDue } of deliveries) {
      if (retryDue !== undefined) return false;
      settled.push(group.number, seq);
    }
    if (!this.#journal.add({ settled, appends: alongside.appends })) return false;
    this.#queue.push({ kind: 'settle', settlement, again: undefined, noted: true, resolve: nothing, reject: nothing });
    this.#noted += deliveries.length;
    if (!this.#busy) this.#go();
    for (const delivery of deliveries) delivery.holder?.release(delivery);
    return true;
  }

  #add(work: Work): void {
    this.#queue.push(work);
    this.#urgent = true;
    if (this.#busy || !this.#available) return;
    // Usually what one turn of the event loop brings; under an overload, which is appends, a turn may last for a second. Other
    // work comes in pieces that belong together, and must not be parted.
    if (this.#queue.length >= ENOUGH_WORK && work.kind === 'append') void this.#commitNext();
    else this.#schedule();
  }
  #go(): void {
    if (this.#urgent || this.#noted >= ENOUGH_NOTED || this.#closed) this.#schedule();
    else this.#later ??= setTimeout(() => void this.#commitNext(), LONGEST_NOTED_MS);
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
    // All of it, always: what was handed in together is stored together.
    const works = this.#queue;
    this.#queue = [];
    if (works.length === 0 && this.#available) return;
    this.#busy = true;
    this.#urgent = false;
    this.#notedUnderWay = this.#noted;
    this.#noted = 0;
    clearTimeout(this.#later);
    this.#later = undefined;
    this.#journal.turn();
    const commit = new Transaction(this.#deps, works);
    try {
      const probing = !this.#available;
      const write = commit.prepare();
      await this.#deps.environment.commit(() => {
        write();
        if (probing) this.#deps.meta.put(metaKeys.probe, PROBE_BYTES);
      });
      this.#journal.ended(true);
      commit.succeed();
      if (probing) this.#recovered();
    } catch (error) {
      this.#failed(commit, works, error as Error);
    }
    this.#busy = false;
    this.#notedUnderWay = 0;
    // At the end of this turn too: commits cost the more the smaller they are, and there is more to come from it.
    if (this.#queue.length > 0 && this.#available) this.#go();
    else if (this.#idle.length > 0 && this.#queue.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #recovered(): void {
    this.#available = true;
    void this.write(() => () => void this.#deps.meta.remove(metaKeys.probe));
  }

  #failed(commit: Transaction, works: Work[], error: Error): void {
    commit.undo();
    this.#journal.ended(false);
    this.#noted += this.#notedUnderWay;
    const full = error instanceof LogUnavailable;
    // Settlements wait for space: refused ones would be delivered a second time. Of noted ones nobody would hear.
    const stays = (work: Work) => (work.kind === 'settle' && work.noted) || (full && work.kind !== 'append');
    const refused = works.filter((work) => !stays(work));
    if (full) {
      this.#available = false;
      refused.push(...this.#queue.filter((work) => work.kind === 'append'));
    }
    this.#queue = [...works.filter(stays), ...this.#queue.filter((work) => !full || work.kind !== 'append')];
    for (const work of refused) work.reject(error);
    if (!full) return;
    if (this.#closed) this.#giveUp();
    else this.#probe = setTimeout(() => void this.#commitNext(), PROBE_MS);
  }
}

function nothing(): void {}

/** Found before it joins a commit, for others share it. */
function faultOf(appends: Append[]): RangeError | undefined {
  for (const { topic, records } of appends) {
    if (topic === '' || topic.length > LONGEST_NAME) return new RangeError(`a topic's name has 1 to ${LONGEST_NAME} characters`);
    for (const { id } of records) if (id.length > LONGEST_ID) return new RangeError(`a record's id has at most ${LONGEST_ID} characters`);
  }
  return undefined;
}
