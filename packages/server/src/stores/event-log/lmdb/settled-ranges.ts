/**
 * The records of a topic that a group has settled: everything up to the cursor, and runs above it. There are few runs, because few records
 * are in flight.
 */
export class SettledRanges {
  cursor: number;
  /** Pairs of first and last sequence; ascending, never adjacent. */
  #runs: number[] = [];
  #above = 0;

  constructor(cursor: number) {
    this.cursor = cursor;
  }

  has(seq: number): boolean {
    if (seq <= this.cursor) return true;
    const at = this.#runAt(seq);
    return at >= 0 && seq <= this.#runs[at + 1]!;
  }

  /** Number of settled records above the cursor. */
  get above(): number {
    return this.#above;
  }

  add(seq: number): void {
    if (this.has(seq)) return;
    const runs = this.#runs;
    if (seq === this.cursor + 1) {
      this.cursor = seq;
      if (runs.length > 0 && runs[0] === seq + 1) {
        this.cursor = runs[1]!;
        this.#above -= runs[1]! - runs[0]! + 1;
        runs.splice(0, 2);
      }
      return;
    }
    this.#above++;
    const before = this.#runAt(seq);
    const after = before + 2;
    const joinsBefore = before >= 0 && runs[before + 1] === seq - 1;
    const joinsAfter = after < runs.length && runs[after] === seq + 1;
    if (joinsBefore && joinsAfter) runs.splice(before + 1, 2);
    else if (joinsBefore) runs[before + 1] = seq;
    else if (joinsAfter) runs[after] = seq;
    else runs.splice(after, 0, seq, seq);
  }

  /** Index of the last run that begins at or before `seq`, or -2. */
  #runAt(seq: number): number {
    const runs = this.#runs;
    let low = 0;
    let high = runs.length / 2 - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (runs[middle * 2]! <= seq) low = middle + 1;
      else high = middle - 1;
    }
    return high * 2;
  }

  encode(): Buffer {
    const out = Buffer.allocUnsafe(8 + this.#runs.length * 8);
    let at = out.writeDoubleBE(this.cursor, 0);
    let last = this.cursor;
    for (const edge of this.#runs) {
      at = writeVarint(out, at, edge - last);
      last = edge;
    }
    return out.subarray(0, at);
  }

  static decode(bytes: Uint8Array): SettledRanges {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const settled = new SettledRanges(buffer.readDoubleBE(0));
    let last = settled.cursor;
    for (let at = 8; at < buffer.length; ) {
      let value = 0;
      let scale = 1;
      let byte: number;
      do {
        byte = buffer[at++]!;
        value += (byte & 127) * scale;
        scale *= 128;
      } while (byte >= 128);
      last += value;
      settled.#runs.push(last);
    }
    for (let i = 0; i < settled.#runs.length; i += 2) settled.#above += settled.#runs[i + 1]! - settled.#runs[i]! + 1;
    return settled;
  }
}

function writeVarint(out: Buffer, at: number, value: number): number {
  let rest = value;
  while (rest >= 128) {
    out[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  out[at++] = rest;
  return at;
}
