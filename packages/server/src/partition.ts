/**
 * The ingest partition of a visitor. Every process must compute the same one, also after an upgrade, so the hash is fixed: FNV-1a over
 * UTF-16 units with a final mix.
 */
export const PARTITIONS = 16;
/** A single process needs fewer partitions, and each one costs pages in every commit. */
export const EMBEDDED_PARTITIONS = 4;

export function partitionOf(orgId: string, visitorKey: string): number {
  return mix(fnv1a(visitorKey, fnv1a(orgId, 0x811c9dc5))) % PARTITIONS;
}

export function ingestTopic(partition: number): string {
  return `ingest.${partition}`;
}

/** All partitions. Every one is read; processes that share the work also write them all. */
export const INGEST_TOPICS: readonly string[] = Array.from({ length: PARTITIONS }, (_, partition) => ingestTopic(partition));

/** The consumer group of the process role on the ingest topics. */
export const PROCESS_GROUP = 'process';
/** Groups of organisations that lag behind it; see `roles/process/lagging-organisation.ts`. */
export const LAGGING_PREFIX = 'lagging.';

function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  // A separator, so that ("ab", "c") and ("a", "bc") differ.
  return Math.imul(hash ^ 0xffff, 0x01000193);
}

/** FNV's low bits are weak on short keys that differ in their last character. */
function mix(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
