import { PACKED_BYTES, type PackedRecords } from '../port.ts';
import { dataPlaces, positionOf } from './block.ts';

/** Copies the data of records into one buffer. An object for each of thousands of records would cost more than the copies. */
export class Packer {
  #bytes: Buffer<ArrayBuffer> | undefined;
  #end = 0;
  #ends: number[] = [];
  #oldest = 0;

  /** A larger block than usual gets a buffer of its own. */
  hasRoomFor(block: Buffer): boolean {
    return this.#bytes === undefined || this.#end + block.length <= this.#bytes.length;
  }

  /** The records of a block up to the sequence `through`, newest first and at most `most`. Returns their number. */
  add(first: number, block: Buffer, through: number, most: number): number {
    this.#bytes ??= Buffer.allocUnsafeSlow(Math.max(PACKED_BYTES, block.length));
    const places = dataPlaces(block);
    let added = 0;
    for (let at = places.length - 3; at >= 0 && added < most; at -= 3) {
      const seq = first + places[at]!;
      if (seq > through) continue;
      this.#end += block.copy(this.#bytes, this.#end, places[at + 1], places[at + 2]);
      this.#ends.push(this.#end);
      this.#oldest = seq;
      added++;
    }
    return added;
  }

  /** What was added since the last call; undefined if nothing was. */
  take(): PackedRecords | undefined {
    if (this.#bytes === undefined || this.#ends.length === 0) return undefined;
    const [bytes, ends] = [this.#bytes.subarray(0, this.#end), this.#ends];
    [this.#bytes, this.#end, this.#ends] = [undefined, 0, []];
    return { bytes, ends, oldest: positionOf(this.#oldest) };
  }
}
