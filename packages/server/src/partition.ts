/**
 * The ingest partitions: a visitor's events always go to the same one, and one process at a time reads it.
 *
 * The number of partitions can be raised while events flow. The new number is a multiple of the old one, so a new partition gets its visitors
 * from exactly one old partition. It is read only when the old one is processed up to the moment of the change: each visitor's events stay in
 * order.
 */
import { fnv1a, mixed } from '@firsthand/core/hash/fnv1a.ts';

export const DEFAULT_PARTITIONS = 16;
export const MOST_PARTITIONS = 1_024;
/** A single process needs fewer partitions, and each one costs pages in every commit. */
export const EMBEDDED_PARTITIONS = 4;

/** The consumer group of the process role on the ingest topics. */
export const PROCESS_GROUP = 'process';
/** Groups of organisations that lag behind it; see `roles/process/lagging-organisation.ts`. */
export const LAGGING_PREFIX = 'lagging.';

/** A number of partitions, and from when on events are spread over them (milliseconds since 1970). */
export interface PartitionEpoch {
  count: number;
  from: number;
}

/** Which topics exist, and which one a visitor's event goes to. */
export class PartitionMap {
  #epochs: readonly PartitionEpoch[];
  readonly #listeners = new Set<() => void>();

  /** In order of time; each count is a multiple of the one before. */
  constructor(epochs: readonly PartitionEpoch[]) {
    this.#epochs = epochs;
  }
  update(epochs: readonly PartitionEpoch[]): void {
    if (JSON.stringify(epochs) === JSON.stringify(this.#epochs)) return;
    this.#epochs = epochs;
    for (const listener of this.#listeners) listener();
  }
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  topicOf(orgId: string, visitorKey: string, now: number): string {
    return ingestTopic(partitionOf(orgId, visitorKey, this.#countAt(now)));
  }
  /** A loop, because every event asks: the last epoch is nearly always the answer. */
  #countAt(now: number): number {
    for (let i = this.#epochs.length - 1; i >= 0; i--) if (this.#epochs[i]!.from <= now) return this.#epochs[i]!.count;
    return DEFAULT_PARTITIONS;
  }
  /** The highest number, which may count only from some seconds later on. */
  get most(): number {
    return this.#epochs.at(-1)?.count ?? DEFAULT_PARTITIONS;
  }
  /** Every topic that may hold events. */
  get topics(): string[] {
    return this.sets.flat();
  }
  /** The topics that each epoch added. Processes share each set for itself, so that a change moves no lease. */
  get sets(): string[][] {
    let known = 0;
    return this.#epochs.map(({ count }) => {
      const added = Array.from({ length: count - known }, (_, i) => ingestTopic(known + i));
      known = count;
      return added;
    });
  }
  /** The topic that held this one's visitors until `until`. */
  parentOf(topic: string): { topic: string; until: number } | undefined {
    const partition = Number(topic.slice(topic.lastIndexOf('.') + 1));
    const at = this.#epochs.findIndex(({ count }) => partition < count);
    const [epoch, before] = [this.#epochs[at], this.#epochs[at - 1]];
    return epoch && before && { topic: ingestTopic(partition % before.count), until: epoch.from };
  }
}

/** One per process: all roles must agree on it. The JetStream engine keeps it up to date. */
export const ingestPartitions = new PartitionMap([{ count: DEFAULT_PARTITIONS, from: 0 }]);

/** Every process must compute the same one, also after an upgrade, so the hash is fixed: FNV-1a over UTF-16 units with a final mix. */
export function partitionOf(orgId: string, visitorKey: string, count = DEFAULT_PARTITIONS): number {
  return mixed(terminated(visitorKey, terminated(orgId))) % count;
}

/** Made once: the log looks topics up by name for every event, and a new string would be hashed each time. */
const TOPICS: readonly string[] = Array.from({ length: MOST_PARTITIONS }, (_, partition) => `ingest.${partition}`);

export function ingestTopic(partition: number): string {
  return TOPICS[partition] ?? `ingest.${partition}`;
}

/** The next epochs for a wanted number, or why it cannot be used. */
export function withPartitions(
  epochs: readonly PartitionEpoch[],
  wanted: number,
  from: number,
): { epochs: readonly PartitionEpoch[]; refused?: string } {
  const count = epochs.at(-1)?.count ?? 0;
  if (wanted === count) return { epochs };
  if (wanted < count) return { epochs, refused: `the number of partitions cannot be lowered, ${count} are in use` };
  if (wanted % count !== 0) return { epochs, refused: `${wanted} is not a multiple of the ${count} partitions in use` };
  return { epochs: [...epochs, { count: wanted, from }] };
}

/** With an end mark, so that ("ab", "c") and ("a", "bc") differ. */
function terminated(text: string, seed?: number): number {
  return fnv1a('\uffff', fnv1a(text, seed));
}
