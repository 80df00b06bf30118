import { turns } from '../../../runtime/turns.ts';
import type { StoredRecord } from '../port.ts';
import { blockTime, readBlock, roomFor, seqOf, writeBlocks } from './block.ts';
import type { CatalogueDeps } from './catalogue.ts';
import type { Group } from './group.ts';
import { metaKeys, readSeq, recordKey, retryKey } from './keys.ts';
import { SettledRanges } from './settled-ranges.ts';
import type { Topic } from './topic.ts';
import { putTopic } from './transaction.ts';

/** Blocks that one transaction rewrites: a few milliseconds of this thread. */
const BLOCKS_AT_ONCE = 32;
const RETRIES_AT_ONCE = 1_000;

/**
 * Removes records older than `before` that all groups except the ignored ones have settled; for ignored groups the removed records count
 * as settled. LMDB reuses the freed pages. Works in slices, so that other commits can run in between.
 */
export async function expireTopic(topic: Topic, before: number, ignoring: string[], deps: CatalogueDeps): Promise<number> {
  const heeded = [...topic.groups.values()].filter((group) => !ignoring.includes(group.name));
  const ignored = [...topic.groups.values()].filter((group) => ignoring.includes(group.name));
  const isSettled = await settledBy(heeded, deps);

  let removed = 0;
  let from = 0;
  for (;;) {
    const slice = readSlice(topic, from, before, deps);
    if (slice.length === 0) break;
    from = slice.at(-1)!.first + 1;
    const changes = slice
      .map((block) => ({ ...block, rest: block.records.filter((record) => !isSettled(seqOf(record.position))) }))
      .filter(({ rest, records }) => rest.length < records.length);
    if (changes.length === 0) continue;
    for (const { rest, records } of changes) removed += records.length - rest.length;
    deps.tails.forget(topic);
    for (const group of ignored) for (const { records } of changes) for (const record of records) group.settled.add(seqOf(record.position));
    await deps.write(() => () => {
      if (topic.removed) return;
      replaceBlocks(topic, changes, deps);
      for (const group of ignored) if (!group.removed) deps.meta.put(metaKeys.cursor(group.number), group.settled.encode());
    });
  }
  for (const group of ignored) await dropOrphans(group, deps);
  return removed;
}

/** Removes the records of these sequences that every group has settled. Returns the sequences of the others that exist. */
export async function eraseRecords(topic: Topic, seqs: readonly number[], deps: CatalogueDeps): Promise<number[]> {
  const isSettled = await settledBy([...topic.groups.values()], deps);
  const wanted = new Set(seqs);
  const left = new Set<number>();
  const read = new Set<number>();
  let changes: { first: number; rest: StoredRecord[] }[] = [];
  for (const seq of wanted) {
    const first = topic.blockWith(seq);
    if (first === undefined || read.has(first)) continue;
    read.add(first);
    const value = deps.records.get(recordKey(topic.number, first));
    if (value === undefined) continue;
    const records = readBlock(first, value);
    const rest = records.filter((record) => {
      if (!wanted.has(record.seq)) return true;
      if (!isSettled(record.seq)) left.add(record.seq);
      return !isSettled(record.seq);
    });
    // A copy: the block is a view of a page that another transaction may free.
    if (rest.length < records.length) changes.push({ first, rest: rest.map((record) => record.copy()) });
    if (changes.length >= BLOCKS_AT_ONCE) await rewrite();
    await turns.bulk();
  }
  await rewrite();
  return [...left];

  async function rewrite(): Promise<void> {
    if (changes.length === 0) return;
    const due = changes;
    changes = [];
    deps.tails.forget(topic);
    await deps.write(() => () => {
      if (!topic.removed) replaceBlocks(topic, due, deps);
    });
  }
}

/** Whether every group has settled a record. */
async function settledBy(groups: readonly Group[], deps: CatalogueDeps): Promise<(seq: number) => boolean> {
  // Read the settled ranges first and, once they are durable, the waiting retries. A record that moves from one to the other in between
  // then appears in at least one of them.
  const settled = groups.map((group) => SettledRanges.decode(group.settled.encode()));
  await deps.write(() => () => {});
  const waiting = new Set<number>();
  for (const group of groups) for await (const key of retryKeys(group, deps)) waiting.add(readSeq(key, 12));
  return (seq) => !waiting.has(seq) && settled.every((group) => group.has(seq));
}

function readSlice(topic: Topic, from: number, before: number, deps: CatalogueDeps): { first: number; records: StoredRecord[] }[] {
  const out: { first: number; records: StoredRecord[] }[] = [];
  const range = { start: recordKey(topic.number, from), end: recordKey(topic.number + 1, 0), limit: BLOCKS_AT_ONCE };
  for (const { key, value } of deps.records.getRange(range)) {
    if (!(blockTime(value) < before)) break; // an invalid date expires nothing
    const first = readSeq(key, 4);
    out.push({ first, records: readBlock(first, value) });
  }
  return out;
}

function replaceBlocks(topic: Topic, changes: readonly { first: number; rest: StoredRecord[] }[], deps: CatalogueDeps): void {
  for (const { first, rest } of changes) {
    deps.records.remove(recordKey(topic.number, first));
    putRest(topic, rest, deps);
  }
  // If the newest block is removed, only this entry records the next sequence.
  putTopic(deps.meta, topic);
}
function putRest(topic: Topic, rest: StoredRecord[], deps: CatalogueDeps): void {
  if (rest.length === 0) return;
  const seqs = rest.map((record) => seqOf(record.position));
  const { blocks } = writeBlocks(Buffer.allocUnsafeSlow(roomFor(rest)), 0, seqs, rest, rest[0]!.time);
  for (const { first, bytes } of blocks) deps.records.put(recordKey(topic.number, first), bytes);
}

type RetryKey = ReturnType<typeof retryKey>;
async function* retryKeys(group: Group, deps: CatalogueDeps): AsyncIterable<RetryKey> {
  const end = retryKey(group.number + 1, 0, 0);
  for (let start = retryKey(group.number, 0, 0); ; ) {
    const keys = [...deps.retries.getKeys({ start, end, limit: RETRIES_AT_ONCE })];
    yield* keys;
    if (keys.length < RETRIES_AT_ONCE) return;
    const last = keys.at(-1)!;
    start = retryKey(group.number, readSeq(last, 4), readSeq(last, 12) + 1);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Drops retries whose record no longer exists. */
async function dropOrphans(group: Group, deps: CatalogueDeps): Promise<void> {
  const orphans: RetryKey[] = [];
  for await (const key of retryKeys(group, deps)) if (group.topic.get(readSeq(key, 12)) === undefined) orphans.push(key);
  if (orphans.length === 0) return;
  await deps.write(() => () => {
    for (const key of orphans) deps.retries.remove(key);
  });
  group.forgetRetryCount();
}
