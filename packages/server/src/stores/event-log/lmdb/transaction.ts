import type { Append, AppendResult } from '../port.ts';
import type { ArenaPool } from './arena-pool.ts';
import { type Block, positionOf, roomFor, writeBlocks } from './block.ts';
import type { Environment, Store } from './environment.ts';
import type { Group, Settlement } from './group.ts';
import { metaKeys, recordKey, retryKey } from './keys.ts';
import type { KnownIds } from './known-ids.ts';
import { isRead, type TailCache } from './tail-cache.ts';
import type { Topic } from './topic.ts';

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}
export type AppendWork = Waiting<AppendResult[]> & { kind: 'append'; appends: Append[]; results: AppendResult[] | undefined };
export type SettleWork = Waiting<void> & {
  kind: 'settle';
  settlement: Settlement;
  again: { due: number; value: Buffer } | undefined;
  /** Stored in the settlement journal; no caller waits for the commit. */
  journaled: boolean;
};
export type OtherWork = Waiting<void> & { kind: 'other'; prepare: () => () => void };
export type Work = AppendWork | SettleWork | OtherWork;

export interface TransactionDeps {
  environment: Environment;
  records: Store;
  meta: Store;
  retries: Store;
  ids: KnownIds;
  tails: TailCache;
  arenas: ArenaPool;
  topic(name: string): Topic;
  stamp(): number;
  /** Called for each topic that has new records. */
  onStored?(topic: Topic): void;
}

/** One transaction: the data it stores, and the promises and readers it notifies when it succeeds or fails. */
export class Transaction {
  readonly #deps: TransactionDeps;
  /** Without those that were rejected while it was prepared. */
  works: Work[];
  readonly #time: number;
  readonly #topics: Topic[] = [];
  readonly #groups: Group[] = [];
  readonly #firstNext: number[] = [];
  #stored: { topic: Topic; blocks: Block[] }[] = [];
  #arena: Buffer | undefined;

  constructor(deps: TransactionDeps, works: Work[]) {
    this.#deps = deps;
    this.works = works;
    this.#time = deps.stamp();
  }

  prepare(): () => void {
    const { ids, meta, records } = this.#deps;
    ids.begin();
    const writes: (() => void)[] = [];
    this.works = this.works.filter((work) => {
      const before = work.kind === 'settle' && work.settlement.alongside.derive ? this.#topics.map((topic) => topic.next) : undefined;
      try {
        const write = this.#prepareOne(work);
        if (write) writes.push(write);
        return true;
      } catch (error) {
        // A caller's own function failed: the others in this commit must not fail with it.
        if (before) this.#takeBack(before);
        work.reject(error instanceof Error ? error : new Error(String(error)));
        return false;
      }
    });
    const blocks = this.#writeBlocks();
    return () => {
      // First: the removal of a topic removes its name, which a topic of this commit may have again.
      for (const write of writes) write();
      for (const topic of this.#topics) if (!topic.stored) putTopic(meta, topic);
      for (const { topic, first, bytes } of blocks) records.put(recordKey(topic.number, first), bytes);
      for (const group of this.#groups) {
        if (group.removed) continue;
        if (!group.stored) putGroup(meta, group);
        meta.put(metaKeys.cursor(group.number), group.settled.encode());
      }
      ids.write();
    };
  }

  #prepareOne(work: Work): (() => void) | undefined {
    if (work.kind === 'other') return work.prepare();
    if (work.kind === 'append') {
      work.results = this.#addAppends(work.appends, true, true);
      return undefined;
    }
    const { appends, derive } = work.settlement.alongside;
    // These share the acknowledgement's transaction and cannot be repeated, so their ids need no deduplication.
    const results = this.#addAppends(appends, false, derive !== undefined);
    if (derive) this.#addAppends(derive(results), false, false);
    return this.#settle(work);
  }

  /** `before`: the next sequences of the topics before the work whose records are taken back. */
  #takeBack(before: readonly number[]): void {
    this.#topics.forEach((topic, i) => {
      const next = before[i] ?? this.#firstNext[i]!;
      const count = topic.next - next;
      if (count === 0) return;
      topic.building!.seqs.splice(-count);
      topic.building!.records.splice(-count);
      topic.next = next;
    });
  }

  /** `needsPositions`: whether the caller uses the result. */
  #addAppends(appends: Append[], deduplicated: boolean, needsPositions: boolean): AppendResult[] {
    const { ids } = this.#deps;
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
        if (deduplicated && !ids.admit(topic.family, record.id)) {
          positions.push(undefined);
          continue;
        }
        const seq = topic.next++;
        topic.building.seqs.push(seq);
        topic.building.records.push(record);
        if (needsPositions) positions.push(positionOf(seq));
      }
      if (needsPositions) results.push({ positions });
    }
    return results;
  }

  /** Writes in addition to the group's cursor; undefined if there are none. */
  #settle({ settlement: { deliveries }, again }: SettleWork): (() => void) | undefined {
    const { retries } = this.#deps;
    let waited = false;
    for (const { group, seq, retryDue } of deliveries) {
      if (group.removed) continue;
      if (!group.touched) {
        group.touched = true;
        this.#groups.push(group);
      }
      group.settled.add(seq);
      waited ||= retryDue !== undefined;
    }
    if (!waited && !again) return undefined;
    return () => {
      for (const { group, seq, retryDue } of deliveries) {
        if (group.removed) continue;
        if (retryDue !== undefined) retries.remove(retryKey(group.number, retryDue, seq));
        if (again) retries.put(retryKey(group.number, again.due, seq), again.value);
      }
    };
  }

  #writeBlocks(): { topic: Topic; first: number; bytes: Buffer }[] {
    let room = 0;
    for (const topic of this.#topics) room += roomFor(topic.building!.records);
    if (room === 0) return [];
    const arena = this.#deps.arenas.take(room);
    this.#arena = arena;
    const out: { topic: Topic; first: number; bytes: Buffer }[] = [];
    let at = 0;
    for (const topic of this.#topics) {
      const { seqs, records } = topic.building!;
      const written = writeBlocks(arena, at, seqs, records, this.#time);
      at = written.end;
      for (const block of written.blocks) out.push({ topic, ...block });
      if (seqs.length > 0) this.#stored.push({ topic, blocks: isRead(topic) ? written.blocks : [] });
    }
    return out;
  }

  succeed(): void {
    this.#deps.ids.committed();
    for (const topic of this.#topics) {
      topic.building = undefined;
      topic.stored = true;
    }
    this.#endGroups(true);
    if (this.#arena !== undefined) this.#deps.tails.add(this.#stored, this.#arena);
    for (const work of this.works) {
      if (work.kind === 'append') work.resolve(work.results!);
      else work.resolve();
      if (work.kind === 'settle' && !work.journaled) this.#settled(work);
    }
    for (const { topic } of this.#stored) {
      this.#deps.onStored?.(topic);
      for (const group of topic.groups.values()) group.wake();
    }
  }

  #settled({ settlement: { deliveries }, again }: SettleWork): void {
    for (const delivery of deliveries) {
      const { group } = delivery;
      group.countRetries((again ? 1 : 0) - (delivery.retryDue === undefined ? 0 : 1));
      if (delivery.retryDue !== undefined) group.retrySettled(delivery);
      if (again) group.waits(again.due, delivery.seq);
      delivery.holder?.release(delivery);
    }
  }

  undo(): void {
    this.#deps.ids.failed();
    if (this.#arena !== undefined) this.#deps.arenas.giveBack(this.#arena);
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
