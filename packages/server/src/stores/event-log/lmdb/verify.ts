/** Reads every record of a stopped log, to find unreadable pages and inconsistent blocks. */
import { open } from 'lmdb';

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;
const BLOCK_HEADER = 8;
const RECORD_HEADER = 10;

/**
 * Throws for a damaged log. Damage can also end the process with a signal (LMDB maps the file and trusts its pages), so call this in a
 * child process.
 */
export function verifyLog(path: string): { entries: number } {
  // `openEnvironment` is not used: a log to verify must not be written to.
  const root = open<Buffer, Buffer>({ path, ...BINARY, readOnly: true, maxDbs: 24 });
  let entries = 0;
  try {
    // LMDB ends the names of its stores with NUL.
    for (const name of [...root.getKeys()].map((key) => key.toString().replace(/\0$/, ''))) {
      const store = root.openDB<Buffer, Buffer>({ name, ...BINARY });
      for (const { key, value } of store.getRange({ snapshot: false })) {
        if (name === 'records' && !isWholeBlock(value)) throw new Error(`the log holds a damaged block at ${key.toString('hex')}`);
        entries += 1;
      }
    }
  } finally {
    void root.close();
  }
  return { entries };
}

/** The lengths in the record headers must end exactly at the end of the block (see block.ts). */
function isWholeBlock(bytes: Buffer): boolean {
  let at = BLOCK_HEADER;
  while (at + RECORD_HEADER <= bytes.length) at += RECORD_HEADER + bytes.readUInt16BE(at + 4) + bytes.readUInt32BE(at + 6);
  return at === bytes.length && at > BLOCK_HEADER;
}
