/**
 * The bytes of a body that arrives in several chunks, copied together. The client decides how small its chunks are: a list of chunks of one
 * byte takes 400 times their size. It owns the chunks: their memory is freed when they are copied.
 */
import { freeBytes } from '../runtime/free-bytes.ts';

export class BodyBytes {
  #bytes: Buffer;
  #size: number;

  constructor(first: Buffer = Buffer.alloc(0)) {
    this.#bytes = first;
    this.#size = first.length;
  }
  add(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    // True for the second chunk too: the memory behind the first is the socket's.
    if (size > this.#bytes.length) {
      // By what came, not by what the client announced: it may never send that.
      const larger = Buffer.allocUnsafeSlow(2 * size);
      this.joined.copy(larger);
      freeBytes(this.#bytes);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.#size);
    freeBytes(chunk);
    this.#size = size;
  }
  get size(): number {
    return this.#size;
  }
  /** All bytes so far. */
  get joined(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }
}
