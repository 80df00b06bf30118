import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { IdFilter } from './id-filter.ts';

/** Places in the file: checksum of what follows it (4 bytes), number of ids (8), digest of the state (20), words of the filter. */
const [ADDED, STATE, WORDS] = [4, 12, 32];

/**
 * The filter, as a process that stops leaves it to the next one. Until a filter is complete every append reads the tree: with ten million
 * retained events, and none of the tree's pages in memory, 85 events a second were accepted for ten seconds after a start. `state` stands for
 * what the log held; a file of another state counts for nothing. Nor does one that was not written to its end, so it is not flushed.
 */
export async function saveFilter(path: string, { words, added }: IdFilter, state: Buffer): Promise<void> {
  const bytes = Buffer.alloc(WORDS + words.byteLength);
  bytes.writeDoubleLE(added, ADDED);
  state.copy(bytes, STATE);
  bytes.set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength), WORDS);
  bytes.writeUInt32LE(crc32(bytes.subarray(ADDED)));
  await writeFile(path, bytes, { mode: 0o600 });
}

export function loadFilter(path: string, state: Buffer): IdFilter | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    // There is none after a kill. One that cannot be read is built again.
    return undefined;
  }
  const bits = Math.log2((bytes.length - WORDS) * 8);
  if (!Number.isInteger(bits) || !bytes.subarray(STATE, WORDS).equals(state)) return undefined;
  if (bytes.readUInt32LE() !== crc32(bytes.subarray(ADDED))) return undefined;
  const words: Uint32Array = new Uint32Array(bytes.buffer, bytes.byteOffset + WORDS, 2 ** (bits - 5));
  return new IdFilter(bits, words, bytes.readDoubleLE(ADDED));
}
