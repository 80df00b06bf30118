import type { Block } from './block.ts';
import type { Topic } from './topic.ts';

const MOST_BYTES = 4_194_304;

/**
 * Caches the newest records of topics that are being read, so that a reader that keeps up never reads from disk. Records stay encoded in
 * their blocks; decoded objects live only as long as a reader needs them. Blocks of one commit share one buffer and are evicted together.
 */
export class TailCache {
  readonly #commits: { kept: { topic: Topic; count: number }[]; bytes: number }[] = [];
  #bytes = 0;

  add(stored: { topic: Topic; blocks: Block[] }[], bytes: number): void {
    const kept: { topic: Topic; count: number }[] = [];
    for (const { topic, blocks } of stored) {
      if (bytes > MOST_BYTES || blocks.length === 0) {
        // The tail must have no gap: without these records the older ones are useless.
        this.forget(topic);
        continue;
      }
      topic.tail.push(...blocks);
      kept.push({ topic, count: blocks.length });
    }
    if (kept.length === 0) return;
    this.#commits.push({ kept, bytes });
    this.#bytes += bytes;
    while (this.#bytes > MOST_BYTES) {
      const oldest = this.#commits.shift()!;
      this.#bytes -= oldest.bytes;
      for (const { topic, count } of oldest.kept) topic.tail.splice(0, count);
    }
  }

  forget(topic: Topic): void {
    if (topic.tail.length === 0) return;
    topic.tail = [];
    for (const commit of this.#commits) for (const part of commit.kept) if (part.topic === topic) part.count = 0;
  }
}

export function isRead(topic: Topic): boolean {
  for (const group of topic.groups.values()) if (group.consumers.size > 0) return true;
  return false;
}
