/**
 * Settlements that wait for their commit, in files written without a flush. They survive a process crash; a power cut may lose them, and
 * their records are then delivered again. Two files alternate, because a commit makes the entries before it obsolete. Files are
 * overwritten, not truncated: each turn has a number, and a file is valid as long as its entries carry the number of its first entry.
 */
import { closeSync, constants, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Append } from '../port.ts';

export interface JournalEntry {
  /** Group number and record sequence, alternating. */
  settled: number[];
  appends: Append[];
}

/** Frame: length of the rest and its checksum. Then the turn number and the length of the text that precedes the bytes. */
const FRAME = 8;
const HEAD = FRAME + 12;

export class SettlementJournal {
  readonly #files: number[];
  #current = 0;
  #at = 0;
  #turn: number;
  #kept = false;
  #begun = false;

  /** Commit the entries in `left`, then call `begin` to discard them. Call `add` only after that. */
  static open(folder: string): { journal: SettlementJournal; left: JournalEntry[] } {
    const paths = ['noted.0', 'noted.1'].map((name) => join(folder, name));
    const files = paths.map((path) => openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600));
    const read = paths.map((path) => readEntries(readFileSync(path))).sort((a, b) => a.turn - b.turn);
    return { journal: new SettlementJournal(files, read[1]!.turn), left: read.flatMap(({ entries }) => entries) };
  }
  private constructor(files: number[], turn: number) {
    this.#files = files;
    this.#turn = turn;
  }

  begin(): void {
    for (const file of this.#files) {
      writeSync(file, Buffer.alloc(FRAME), 0, FRAME, 0);
      // Without this flush an old entry could reappear after a power cut, when its group number may belong to another group.
      fdatasyncSync(file);
    }
    this.#turn++;
    this.#begun = this.#files.length > 0;
  }

  /** Returns false if the entry could not be written: only the commit makes it durable then. */
  add(note: JournalEntry): boolean {
    if (!this.#begun) return false;
    const bytes = encode(note, this.#turn);
    try {
      if (writeSync(this.#files[this.#current]!, bytes, 0, bytes.length, this.#at) < bytes.length) return false;
    } catch {
      return false;
    }
    this.#at += bytes.length;
    return true;
  }

  /** A commit takes all entries so far. Later entries go into the other file, unless that one still holds entries of a failed commit. */
  turn(): void {
    if (this.#kept) return;
    this.#current = 1 - this.#current;
    this.#at = 0;
    this.#turn++;
  }
  /** Call when the commit has ended. */
  ended(stored: boolean): void {
    this.#kept = !stored;
  }

  close(): void {
    this.#begun = false;
    for (const file of this.#files.splice(0)) closeSync(file);
  }
}

function encode({ settled, appends }: JournalEntry, turn: number): Buffer {
  const records = appends.map(({ topic, records }) => [topic, ...records.flatMap(({ id, data }) => [id, data.length])]);
  const text = JSON.stringify([settled, ...records]);
  const length = Buffer.byteLength(text);
  let size = HEAD + length;
  for (const append of appends) for (const { data } of append.records) size += data.length;
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeUInt32BE(size - FRAME, 0);
  bytes.writeDoubleBE(turn, FRAME);
  bytes.writeUInt32BE(length, FRAME + 8);
  let at = HEAD + bytes.write(text, HEAD);
  for (const append of appends)
    for (const { data } of append.records) {
      bytes.set(data, at);
      at += data.length;
    }
  bytes.writeUInt32BE(crc32(bytes.subarray(FRAME)), 4);
  return bytes;
}

/** Reads entries while they are complete and of the same turn. */
function readEntries(bytes: Buffer): { turn: number; entries: JournalEntry[] } {
  const entries: JournalEntry[] = [];
  let turn = 0;
  for (let at = 0; at + HEAD <= bytes.length; ) {
    const end = at + FRAME + bytes.readUInt32BE(at);
    if (end < at + HEAD || end > bytes.length) break;
    const frame = bytes.subarray(at + FRAME, end);
    const number = frame.readDoubleBE(0);
    if (crc32(frame) !== bytes.readUInt32BE(at + 4) || (at > 0 && number !== turn)) break;
    turn = number;
    entries.push(decode(frame));
    at = end;
  }
  return { turn, entries };
}

function decode(frame: Buffer): JournalEntry {
  const start = HEAD - FRAME;
  let at = start + frame.readUInt32BE(8);
  const [settled, ...appends] = JSON.parse(frame.toString('utf8', start, at)) as [number[], ...(string | number)[][]];
  return {
    settled,
    appends: appends.map(([topic, ...about]) => ({
      topic: topic as string,
      records: Array.from({ length: about.length / 2 }, (_, i) => {
        const from = at;
        at += about[2 * i + 1] as number;
        return { id: about[2 * i] as string, data: frame.subarray(from, at) };
      }),
    })),
  };
}
