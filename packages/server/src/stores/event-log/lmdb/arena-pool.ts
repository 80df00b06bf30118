/**
 * Reuses the buffers that commits build their blocks in. The tail cache keeps each of them for a while, so that only a full garbage
 * collection could free it: under load these buffers alone would cause one every second.
 */
const SMALLEST = 4_096;
/** Larger ones are rare. */
const LARGEST = 1_048_576;
const MAX_FREE_BYTES = 2 * LARGEST;

export class ArenaPool {
  /** By size, a power of two. */
  readonly #free = new Map<number, Buffer[]>();
  #freeBytes = 0;

  /** At least `room` bytes with undefined content. */
  take(room: number): Buffer {
    if (room > LARGEST) return Buffer.allocUnsafeSlow(room);
    let size = SMALLEST;
    while (size < room) size *= 2;
    const arena = this.#free.get(size)?.pop();
    if (arena === undefined) return Buffer.allocUnsafeSlow(size);
    this.#freeBytes -= size;
    return arena;
  }

  /** No view of it may be used from now on. */
  giveBack(arena: Buffer): void {
    const size = arena.length;
    if (size > LARGEST || this.#freeBytes + size > MAX_FREE_BYTES) {
      // Freed now. Memory outside of the heap that waits for a collection makes V8 mark for 5 to 10 ms at every new buffer.
      if (arena.buffer instanceof ArrayBuffer) arena.buffer.transfer(0);
      return;
    }
    const free = this.#free.get(size);
    if (free === undefined) this.#free.set(size, [arena]);
    else free.push(arena);
    this.#freeBytes += size;
  }
}
