/**
 * What is wrong with the log's file, before LMDB opens it: LMDB maps the file and trusts its pages, so a file that was cut off ends the
 * process with SIGBUS. Reads two pages. Only of a file that ends before its last page does it read the list of free pages too.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Of a page; see `MDB_page_header`, `MDB_meta` and `MDB_node` in lmdb's mdb.c. Numbers are in the byte order of the machine. */
const HEADER = 24;
const MAGIC = 0xbeef_c0de;
const SMALLEST_PAGE = 512;
const BRANCH = 0x01;
const LEAF = 0x02;
const META = 0x08;
/** Of a node: its data is in pages of its own. */
const OUTSIDE = 0x01;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
/** The levels of any tree of free pages. */
const MAX_DEPTH = 32;

interface Meta {
  pageSize: number;
  freeRoot: bigint;
  mainRoot: bigint;
  lastPage: number;
  txn: bigint;
}

/** A start that is killed while it makes the file leaves a shorter one. */
export const EMPTY_FILE_BYTES = 8_192;

export function logFileFault(file: string): string | undefined {
  const opened = openSync(file, 'r');
  try {
    const { size } = fstatSync(opened);
    const read = (at: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(opened, bytes, 0, length, at));
    };
    const first = metaOf(read(0, SMALLEST_PAGE));
    const second = first && metaOf(read(first.pageSize, SMALLEST_PAGE));
    if (first === undefined || second === undefined) return 'it is not a file of the log';
    const meta = second.txn > first.txn ? second : first;
    const pages = Math.floor(size / meta.pageSize);
    const page = (number: bigint): Buffer | undefined => {
      if (number >= BigInt(pages)) return undefined;
      const bytes = read(Number(number) * meta.pageSize, meta.pageSize);
      return bytes.length === meta.pageSize && bytes.readBigUInt64LE(0) === number ? bytes : undefined;
    };
    for (const root of [meta.freeRoot, meta.mainRoot])
      if (root !== NO_PAGE && page(root) === undefined) return 'it is cut off or overwritten';
    const missing = meta.lastPage + 1 - pages;
    if (missing <= 0) return undefined;
    // LMDB does not write free pages: the file may end before them.
    const free = countFreeFrom(pages, meta, page, (at, length) => read(at * meta.pageSize, length));
    if (free !== undefined && free >= missing) return undefined;
    return `it is cut off: it has ${size} of ${(meta.lastPage + 1) * meta.pageSize} bytes`;
  } finally {
    closeSync(opened);
  }
}

function metaOf(page: Buffer): Meta | undefined {
  if (page.length < SMALLEST_PAGE || (page.readUInt16LE(18) & META) === 0 || page.readUInt32LE(HEADER) !== MAGIC) return undefined;
  const pageSize = page.readUInt32LE(48);
  if (pageSize < SMALLEST_PAGE || pageSize > 65_536) return undefined;
  return {
    pageSize,
    freeRoot: page.readBigUInt64LE(88),
    mainRoot: page.readBigUInt64LE(136),
    lastPage: Number(page.readBigUInt64LE(144)),
    txn: page.readBigUInt64LE(152),
  };
}

/** How many free pages have a number from `from` on. Undefined where the list itself cannot be read. */
function countFreeFrom(
  from: number,
  { freeRoot }: Meta,
  page: (number: bigint) => Buffer | undefined,
  read: (page: number, length: number) => Buffer,
): number | undefined {
  if (freeRoot === NO_PAGE) return 0;
  let free = 0;
  const waiting = [{ number: freeRoot, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const bytes = page(next.number);
    if (bytes === undefined || next.depth > MAX_DEPTH) return undefined;
    const flags = bytes.readUInt16LE(18);
    const nodes = bytes.readUInt16LE(20) >> 1;
    for (let i = 0; i < nodes; i++) {
      const node = HEADER + bytes.readUInt16LE(HEADER + 2 * i);
      const low = bytes.readUInt32LE(node);
      if (flags & BRANCH) waiting.push({ number: BigInt(low) | (BigInt(bytes.readUInt16LE(node + 4)) << 32n), depth: next.depth + 1 });
      if ((flags & LEAF) === 0) continue;
      const data = node + 8 + bytes.readUInt16LE(node + 6);
      const list = bytes.readUInt16LE(node + 4) & OUTSIDE ? outside(bytes.readBigUInt64LE(data), low) : bytes.subarray(data, data + low);
      if (list === undefined) return undefined;
      free += countInList(list, BigInt(from));
    }
  }
  return free;

  function outside(first: bigint, length: number): Buffer | undefined {
    if (page(first) === undefined) return undefined;
    const bytes = read(Number(first), HEADER + length).subarray(HEADER);
    return bytes.length === length ? bytes : undefined;
  }
}

/** Its length, then page numbers. A negative number is the length of a run, which begins at the next one; zeros are gaps. */
function countInList(list: Buffer, from: bigint): number {
  const length = Number(list.readBigInt64LE(0));
  let found = 0n;
  for (let i = 1; i <= length; i++) {
    let first = list.readBigInt64LE(8 * i);
    let run = 1n;
    if (first < 0n) {
      run = -first;
      i += 1;
      first = list.readBigInt64LE(8 * i);
    }
    if (first === 0n) continue;
    const beyond = first + run - (first > from ? first : from);
    if (beyond > 0n) found += beyond;
  }
  return Number(found);
}
