import type { ArenaPool } from './arena-pool.ts';
import type { Block } from './block.ts';
import type { Topic } from './topic.ts';

const MOST_BYTES = 4_194_304;

/**
 * Caches the newest records of topics that are being read, so that a reader that keeps up never reads from disk. Records stay encoded in
 * their blocks; readers get copies. Blocks of one commit share one arena, are evicted together, and the arena is used again. A commit is
 * evicted as soon as all its readers have passed it: blocks that are kept longer outlive the young generation, and only a full garbage
 * collection frees them.
 */
export class TailCache {
  readonly #arenas: ArenaPool;
  readonly #commits: { kept: Kept[]; arena: Buffer }[] = [];
  #bytes = 0;

  constructor(arenas: ArenaPool) {
    this.#arenas = arenas;
  }

  /** Takes over the arena, which contains all the blocks. */
  add(stored: { topic: Topic; blocks: Block[] }[], arena: Buffer): void {
    const bytes = arena.length;
    const kept: Kept[] = [];
    for (const { topic, blocks } of stored) {
      const last = blocks.at(-1)?.last;
      if (bytes > MOST_BYTES || last === undefined) {
        // The tail must have no gap: without these records the older ones are useless.
        this.forget(topic);
        continue;
      }
      topic.tail.push(...blocks);
      kept.push({ topic, count: blocks.length, last });
    }
    if (kept.length === 0) {
      this.#arenas.giveBack(arena);
      return;
    }
    this.#commits.push({ kept, arena });
    this.#bytes += bytes;
    for (let oldest = this.#commits[0]; oldest !== undefined; oldest = this.#commits[0]) {
      if (this.#bytes <= MOST_BYTES && !oldest.kept.every(wasRead)) break;
      this.#commits.shift();
      this.#bytes -= oldest.arena.length;
      for (const { topic, count } of oldest.kept) topic.tail.splice(0, count);
      this.#arenas.giveBack(oldest.arena);
    }
  }

  forget(topic: Topic): void {
    if (topic.tail.length === 0) return;
    topic.tail = [];
    for (const commit of this.#commits) for (const part of commit.kept) if (part.topic === topic) part.count = 0;
  }
}

/** Blocks of one topic in one commit, and the sequence of their last record. */
interface Kept {
  topic: Topic;
  count: number;
  last: number;
}

function wasRead({ topic, count, last }: Kept): boolean {
  if (count > 0) for (const group of topic.groups.values()) if (group.readsTail && !group.hasRead(last)) return false;
  return true;
}

export function isRead(topic: Topic): boolean {
  for (const group of topic.groups.values()) if (group.readsTail) return true;
  return false;
}
