import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { IdFilter } from './id-filter.ts';

/** Places in the file: checksum of what follows it (4 bytes), number of ids (8), number and digest of the last entry (8, 20), words of the filter. */
const [ADDED, NUMBER, DIGEST, WORDS] = [4, 12, 20, 40];
/** About a millisecond each. */
const PIECE_BYTES = 1_048_576;

/** The last journal entry whose ids the filter has, and its SHA-1, which tells it from an entry of another log. */
export interface LastEntry {
  number: number;
  digest: Buffer;
}
export interface SavedFilter {
  filter: IdFilter;
  last: LastEntry;
}

/**
 * The filter, for the next process. Until a filter is complete every append reads the tree: with ten million retained events, and none of the
 * tree's pages in memory, 85 events a second were accepted for ten seconds after a start. Ids that are added while it is written may be in the
 * file or not. It is not flushed: a file that was not written to its end counts for nothing.
 */
export async function saveFilter(path: string, { filter: { words, added }, last }: SavedFilter): Promise<void> {
  const head = Buffer.alloc(WORDS);
  head.writeDoubleLE(added, ADDED);
  head.writeDoubleLE(last.number, NUMBER);
  last.digest.copy(head, DIGEST);
  const draft = `${path}.draft`;
  const file = await open(draft, 'w', 0o600);
  try {
    const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
    let sum = crc32(head.subarray(ADDED));
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      // A copy: the filter changes while it is written.
      const piece = Buffer.from(bytes.subarray(at, at + PIECE_BYTES));
      sum = crc32(piece, sum);
      await file.write(piece, 0, piece.length, WORDS + at);
    }
    head.writeUInt32LE(sum);
    await file.write(head, 0, head.length, 0);
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

export function loadFilter(path: string): SavedFilter | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    // There is none yet. One that cannot be read is built again.
    return undefined;
  }
  const bits = Math.log2((bytes.length - WORDS) * 8);
  if (!Number.isInteger(bits) || bytes.readUInt32LE() !== crc32(bytes.subarray(ADDED))) return undefined;
  const words: Uint32Array = new Uint32Array(bytes.buffer, bytes.byteOffset + WORDS, 2 ** (bits - 5));
  const last = { number: bytes.readDoubleLE(NUMBER), digest: bytes.subarray(DIGEST, WORDS) };
  return { filter: new IdFilter(bits, words, bytes.readDoubleLE(ADDED)), last };
}
