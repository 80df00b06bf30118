import type { Store } from './environment.ts';
import { Group } from './group.ts';
import { metaKeys, readU32, recordKey, retryKey } from './keys.ts';
import { SettledRanges } from './settled-ranges.ts';
import type { TailCache } from './tail-cache.ts';
import { Topic } from './topic.ts';
import { putGroup, putTopic } from './transaction.ts';

export interface CatalogueDeps {
  records: Store;
  meta: Store;
  retries: Store;
  tails: TailCache;
  write(prepare: () => () => void): Promise<void>;
  group: Omit<ConstructorParameters<typeof Group>[5], 'onError'>;
  onError(error: unknown, where: { topic: string; group: string }): void;
}

const REMOVED_AT_ONCE = 500;

/** Maps names of topics and groups to the numbers used in keys. A number is never reused. */
export class Catalogue {
  readonly deps: CatalogueDeps;
  readonly #topics = new Map<string, Topic>();
  #lastTopic = 0;
  #lastGroup = 0;

  constructor(deps: CatalogueDeps) {
    this.deps = deps;
    const { meta } = deps;
    const byNumber = new Map<number, Topic>();
    for (const { key, value } of meta.getRange({ start: metaKeys.topics[0], end: metaKeys.topics[1] })) {
      const topic = new Topic(deps.records, asBuffer(key).toString('utf8', 1), readU32(value, 0), value.readDoubleBE(4), true);
      this.#topics.set(topic.name, topic);
      byNumber.set(topic.number, topic);
      this.#lastTopic = Math.max(this.#lastTopic, topic.number);
    }
    for (const { key, value } of meta.getRange({ start: metaKeys.groups[0], end: metaKeys.groups[1] })) {
      const topic = byNumber.get(readU32(key, 1));
      const number = readU32(value, 0);
      this.#lastGroup = Math.max(this.#lastGroup, number);
      const cursor = meta.get(metaKeys.cursor(number));
      if (!topic || !cursor) continue;
      const name = asBuffer(key).toString('utf8', 5);
      topic.groups.set(name, this.#makeGroup(topic, name, number, SettledRanges.decode(cursor), true));
    }
    const last = meta.get(metaKeys.lastNumbers);
    if (last) this.#raise(readU32(last, 0), readU32(last, 4));
    // Earlier versions did not store the last numbers, and could leave records of a topic without a name.
    const newest = { reverse: true, limit: 1 };
    for (const key of deps.records.getKeys(newest)) this.#raise(readU32(key, 0), 0);
    for (const key of deps.retries.getKeys(newest)) this.#raise(0, readU32(key, 0));
    for (const key of keysIn(meta, metaKeys.removedTopics)) this.#lastTopic = Math.max(this.#lastTopic, readU32(key, 1));
    for (const key of keysIn(meta, metaKeys.removedGroups)) this.#lastGroup = Math.max(this.#lastGroup, readU32(key, 1));
  }

  #raise(topic: number, group: number): void {
    this.#lastTopic = Math.max(this.#lastTopic, topic);
    this.#lastGroup = Math.max(this.#lastGroup, group);
  }

  find(name: string): Topic | undefined {
    return this.#topics.get(name);
  }

  topic(name: string): Topic {
    let topic = this.#topics.get(name);
    if (!topic) {
      topic = new Topic(this.deps.records, name, ++this.#lastTopic, 1, false);
      this.#topics.set(name, topic);
    }
    return topic;
  }

  group(topicName: string, name: string, start: 'beginning' | Date): Group {
    const topic = this.topic(topicName);
    const existing = topic.groups.get(name);
    if (existing) return existing;
    const cursor = start === 'beginning' ? 0 : topic.seqAt(start.getTime()) - 1;
    const group = this.#makeGroup(topic, name, ++this.#lastGroup, new SettledRanges(cursor), false);
    topic.groups.set(name, group);
    // Store the group at once, so that expiry after a restart knows it. If that fails, its first settlement stores it.
    const { meta } = this.deps;
    group.isStored = this.deps
      .write(() => () => {
        if (group.removed) return;
        if (!topic.stored) putTopic(meta, topic);
        putGroup(meta, group);
        meta.put(metaKeys.cursor(group.number), group.settled.encode());
      })
      .then(() => {
        topic.stored = true;
        group.stored = true;
      });
    group.isStored.catch((error) => this.deps.onError(error, { topic: topicName, group: name }));
    return group;
  }

  groupsByNumber(): Map<number, Group> {
    const groups = new Map<number, Group>();
    for (const topic of this.#topics.values()) for (const group of topic.groups.values()) groups.set(group.number, group);
    return groups;
  }

  #makeGroup(topic: Topic, name: string, number: number, settled: SettledRanges, stored: boolean): Group {
    const onError = (error: unknown) => this.deps.onError(error, { topic: topic.name, group: name });
    return new Group(topic, name, number, settled, stored, { ...this.deps.group, onError });
  }

  names(prefix: string): string[] {
    const names: string[] = [];
    for (const name of this.#topics.keys()) if (name.startsWith(prefix)) names.push(name);
    return names.sort();
  }

  async removeGroup(topicName: string, name: string): Promise<void> {
    const group = this.find(topicName)?.groups.get(name);
    if (!group) return;
    group.removed = true;
    group.topic.groups.delete(name);
    const { meta } = this.deps;
    await this.deps.write(() => () => {
      forgetGroup(meta, group);
      this.#keepNumbers();
    });
    await this.#dropRetries(group.number);
  }

  /**
   * One commit removes the names and leaves a marker. The records are then removed in slices; after a crash the next start finishes the
   * removal.
   */
  async removeTopic(name: string): Promise<void> {
    const topic = this.find(name);
    if (!topic) return;
    topic.removed = true;
    this.#topics.delete(name);
    this.deps.tails.forget(topic);
    const groups = [...topic.groups.values()];
    for (const group of groups) group.removed = true;
    const { meta } = this.deps;
    await this.deps.write(() => () => {
      meta.remove(metaKeys.topic(name));
      meta.put(metaKeys.removedTopic(topic.number), Buffer.from([1]));
      for (const group of groups) forgetGroup(meta, group);
      this.#keepNumbers();
    });
    await this.#dropRecords(topic.number);
    for (const group of groups) await this.#dropRetries(group.number);
  }

  #keepNumbers(): void {
    const value = Buffer.allocUnsafe(8);
    value.writeUInt32BE(this.#lastTopic, 0);
    value.writeUInt32BE(this.#lastGroup, 4);
    this.deps.meta.put(metaKeys.lastNumbers, value);
  }

  async finishRemovals(): Promise<void> {
    for (const key of keysIn(this.deps.meta, metaKeys.removedTopics)) await this.#dropRecords(readU32(key, 1));
    for (const key of keysIn(this.deps.meta, metaKeys.removedGroups)) await this.#dropRetries(readU32(key, 1));
  }

  async #dropRecords(topic: number): Promise<void> {
    const { records, meta } = this.deps;
    await this.#drop(records, recordKey(topic, 0), recordKey(topic + 1, 0));
    await this.deps.write(() => () => void meta.remove(metaKeys.removedTopic(topic)));
  }
  async #dropRetries(group: number): Promise<void> {
    const { retries, meta } = this.deps;
    await this.#drop(retries, retryKey(group, 0, 0), retryKey(group + 1, 0, 0));
    await this.deps.write(() => () => void meta.remove(metaKeys.removedGroup(group)));
  }
  async #drop(store: Store, start: Buffer, end: Buffer): Promise<void> {
    for (;;) {
      const keys = [...store.getKeys({ start, end, limit: REMOVED_AT_ONCE })];
      if (keys.length === 0) return;
      await this.deps.write(() => () => {
        for (const key of keys) store.remove(key);
      });
    }
  }
}

function forgetGroup(meta: Store, group: Group): void {
  meta.remove(metaKeys.group(group.topic.number, group.name));
  meta.remove(metaKeys.cursor(group.number));
  meta.put(metaKeys.removedGroup(group.number), Buffer.from([1]));
}
function keysIn(store: Store, [start, end]: readonly [Buffer, Buffer]): Buffer[] {
  return [...store.getKeys({ start, end })];
}
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
