import { type Append, type AppendResult, LogUnavailable, type StoredRecord } from '../port.ts';
import { positionOf, roomFor, writeBlocks } from './block.ts';
import type { Deduplication } from './deduplication.ts';
import type { Environment, Store } from './environment.ts';
import { encodeRetry, type Group, type Settlement } from './group.ts';
import { metaKeys, recordKey, retryKey } from './keys.ts';
import type { TailCache } from './tail-cache.ts';
import type { Topic } from './topic.ts';

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}
type AppendWork = Waiting<AppendResult[]> & { kind: 'append'; appends: Append[] };
type SettleWork = Waiting<void> & { kind: 'settle'; settlement: Settlement; due: number; value: Buffer | undefined };
type OtherWork = Waiting<void> & { kind: 'other'; prepare: () => () => void };
type Work = AppendWork | SettleWork | OtherWork;

export interface CommitterDeps {
  environment: Environment;
  records: Store;
  meta: Store;
  retries: Store;
  deduplication: Deduplication;
  tails: TailCache;
  topic(name: string): Topic;
  stamp(): number;
}

/** Most work in one commit: past it a commit would keep the others waiting for too long. */
const MOST_WORK = 4_096;
const LONGEST_NAME = 500;
/** Its bytes are counted in 16 bits. */
const LONGEST_ID = 20_000;
const PROBE_MS = 250;
const PROBE_BYTES = Buffer.alloc(65_536);

/**
 * Everything that is written goes through here, one commit at a time: what arrives while one is under way shares the
 * next. Where the disk is full appends are refused at once, and settlements wait for space.
 */
export class Committer {
  readonly #deps: CommitterDeps;
  #queue: Work[] = [];
  #busy = false;
  #scheduled = false;
  #available = true;
  #probe: NodeJS.Timeout | undefined;
  #idle: (() => void)[] = [];
  #closed = false;

  constructor(deps: CommitterDeps) {
    this.#deps = deps;
  }

  get available(): boolean {
    return this.#available && !this.#closed;
  }

  append(appends: Append[]): Promise<AppendResult[]> {
    if (!this.available) return Promise.reject(new LogUnavailable(this.#closed ? 'the log is closed' : 'the disk is full'));
    const fault = faultOf(appends);
    if (fault) return Promise.reject(fault);
    return new Promise((resolve, reject) => this.#add({ kind: 'append', appends, resolve, reject }));
  }

  settle(settlement: Settlement): Promise<void> {
    if (this.#closed) return Promise.reject(new LogUnavailable('the log is closed'));
    const { delivery, retry, alongside } = settlement;
    const fault = faultOf(alongside);
    if (fault) return Promise.reject(fault);
    return new Promise((resolve, reject) => {
      const due = retry ? delivery.group.dueIn(retry.delayMs) : 0;
      const value = retry && encodeRetry(delivery.attempt + 1, delivery.record.time, retry.state);
      this.#add({ kind: 'settle', settlement, due, value, resolve, reject });
    });
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
    if (this.#busy || this.#queue.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    clearTimeout(this.#probe);
  }

  #giveUp(): void {
    const left = this.#queue;
    this.#queue = [];
    for (const work of left) work.reject(new LogUnavailable('the log was closed while the disk was full'));
  }

  #add(work: Work): void {
    this.#queue.push(work);
    if (this.#busy || this.#scheduled || !this.#available) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#commitNext();
    });
  }

  async #commitNext(): Promise<void> {
    if (this.#busy) return;
    const works = this.#queue.length <= MOST_WORK ? this.#queue : this.#queue.slice(0, MOST_WORK);
    this.#queue = works === this.#queue ? [] : this.#queue.slice(MOST_WORK);
    if (works.length === 0 && this.#available) return;
    this.#busy = true;
    const commit = new Commit(this.#deps, works);
    try {
      const probing = !this.#available;
      const write = commit.prepare();
      await this.#deps.environment.commit(() => {
        write();
        if (probing) this.#deps.meta.put(metaKeys.probe, PROBE_BYTES);
      });
      commit.succeed();
      if (probing) this.#recovered();
    } catch (error) {
      this.#failed(commit, works, error as Error);
    }
    this.#busy = false;
    if (this.#queue.length > 0 && this.#available) void this.#commitNext();
    else if (this.#idle.length > 0 && this.#queue.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #recovered(): void {
    this.#available = true;
    void this.write(() => () => void this.#deps.meta.remove(metaKeys.probe));
  }

  #failed(commit: Commit, works: Work[], error: Error): void {
    commit.undo();
    if (!(error instanceof LogUnavailable)) {
      for (const work of works) work.reject(error);
      return;
    }
    this.#available = false;
    // Settlements wait for space: refused ones would be delivered a second time.
    const kept = works.filter((work) => work.kind !== 'append');
    for (const work of works) if (work.kind === 'append') work.reject(error);
    for (const work of this.#queue) if (work.kind === 'append') work.reject(error);
    this.#queue = [...kept, ...this.#queue.filter((work) => work.kind !== 'append')];
    if (this.#closed) this.#giveUp();
    else this.#probe = setTimeout(() => void this.#commitNext(), PROBE_MS);
  }
}

/** Found before it joins a commit, for others share it. */
function faultOf(appends: Append[]): RangeError | undefined {
  for (const { topic, records } of appends) {
    if (topic === '' || topic.length > LONGEST_NAME) return new RangeError(`a topic's name has 1 to ${LONGEST_NAME} characters`);
    for (const { id } of records) if (id.length > LONGEST_ID) return new RangeError(`a record's id has at most ${LONGEST_ID} characters`);
  }
  return undefined;
}

/** One transaction: what it stores, and what is told to whom when it has succeeded or failed. */
class Commit {
  readonly #deps: CommitterDeps;
  readonly #works: Work[];
  readonly #time: number;
  readonly #topics: Topic[] = [];
  readonly #groups: Group[] = [];
  readonly #firstNext: number[] = [];
  readonly #results = new Map<AppendWork, AppendResult[]>();
  #stored: { topic: Topic; records: StoredRecord[] }[] = [];
  #bytes = 0;

  constructor(deps: CommitterDeps, works: Work[]) {
    this.#deps = deps;
    this.#works = works;
    this.#time = deps.stamp();
  }

  prepare(): () => void {
    const { deduplication, meta, records } = this.#deps;
    deduplication.begin();
    const writes: (() => void)[] = [];
    for (const work of this.#works) {
      if (work.kind === 'append') this.#results.set(work, this.#addAppends(work.appends));
      else if (work.kind === 'other') writes.push(work.prepare());
      else {
        this.#addAppends(work.settlement.alongside);
        writes.push(this.#settle(work));
      }
    }
    const blocks = this.#writeBlocks();
    return () => {
      for (const topic of this.#topics) if (!topic.stored) putTopic(meta, topic);
      for (const { topic, first, bytes } of blocks) records.put(recordKey(topic.number, first), bytes);
      for (const write of writes) write();
      for (const group of this.#groups) {
        if (group.removed) continue;
        if (!group.stored) putGroup(meta, group);
        meta.put(metaKeys.cursor(group.number), group.settled.encode());
      }
      deduplication.write();
    };
  }

  #addAppends(appends: Append[]): AppendResult[] {
    const { deduplication } = this.#deps;
    const results: AppendResult[] = [];
    for (const { topic: name, records } of appends) {
      const topic = this.#deps.topic(name);
      if (!topic.building) {
        topic.building = { seqs: [], records: [] };
        this.#topics.push(topic);
        this.#firstNext.push(topic.next);
      }
      const positions: (string | undefined)[] = [];
      for (const record of records) {
        if (!deduplication.admit(topic.family, record.id)) {
          positions.push(undefined);
          continue;
        }
        const seq = topic.next++;
        topic.building.seqs.push(seq);
        topic.building.records.push(record);
        positions.push(positionOf(seq));
      }
      results.push({ positions });
    }
    return results;
  }

  #settle({ settlement: { delivery }, due, value }: SettleWork): () => void {
    const { retries } = this.#deps;
    const { group, seq } = delivery;
    if (group.removed) return () => {};
    if (!group.touched) {
      group.touched = true;
      this.#groups.push(group);
    }
    group.settled.add(seq);
    return () => {
      if (delivery.retryDue !== undefined) retries.remove(retryKey(group.number, delivery.retryDue, seq));
      if (value) retries.put(retryKey(group.number, due, seq), value);
    };
  }

  #writeBlocks(): { topic: Topic; first: number; bytes: Buffer }[] {
    let room = 0;
    for (const topic of this.#topics) room += roomFor(topic.building!.records);
    const arena = Buffer.allocUnsafeSlow(room);
    const out: { topic: Topic; first: number; bytes: Buffer }[] = [];
    let at = 0;
    for (const topic of this.#topics) {
      const { seqs, records } = topic.building!;
      const written = writeBlocks(arena, at, seqs, records, this.#time);
      at = written.end;
      for (const block of written.blocks) out.push({ topic, ...block });
      if (written.stored.length > 0) this.#stored.push({ topic, records: written.stored });
    }
    this.#bytes = room;
    return out;
  }

  succeed(): void {
    this.#deps.deduplication.committed();
    for (const topic of this.#topics) {
      topic.building = undefined;
      topic.stored = true;
    }
    this.#endGroups(true);
    this.#deps.tails.add(this.#stored, this.#bytes);
    for (const work of this.#works) {
      if (work.kind === 'append') work.resolve(this.#results.get(work)!);
      else work.resolve();
      if (work.kind === 'settle') this.#settled(work);
    }
    for (const { topic } of this.#stored) for (const group of topic.groups.values()) group.wake();
  }

  #settled({ settlement: { delivery, retry }, due }: SettleWork): void {
    const { group } = delivery;
    group.countRetries((retry ? 1 : 0) - (delivery.retryDue === undefined ? 0 : 1));
    if (retry) group.waits(due);
    delivery.release?.();
  }

  undo(): void {
    this.#deps.deduplication.failed();
    this.#topics.forEach((topic, i) => {
      topic.building = undefined;
      topic.next = this.#firstNext[i]!;
    });
    this.#endGroups(false);
  }

  #endGroups(stored: boolean): void {
    for (const group of this.#groups) {
      group.touched = false;
      if (stored) group.stored = true;
    }
  }
}

export function putTopic(meta: Store, topic: Topic): void {
  const value = Buffer.allocUnsafe(12);
  value.writeUInt32BE(topic.number, 0);
  value.writeDoubleBE(topic.next, 4);
  meta.put(metaKeys.topic(topic.name), value);
}
export function putGroup(meta: Store, group: Group): void {
  const value = Buffer.allocUnsafe(4);
  value.writeUInt32BE(group.number, 0);
  meta.put(metaKeys.group(group.topic.number, group.name), value);
}
