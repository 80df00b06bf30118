/** Items in lines, taken one from each line in turn: a line with a thousand items delays another line by one item. */
export class RoundRobin<T> {
  /** In the order of their turns. `head` is the first item that was not taken. */
  readonly #lines = new Map<string, { items: T[]; head: number }>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(line: string, item: T): void {
    const known = this.#lines.get(line);
    if (known === undefined) this.#lines.set(line, { items: [item], head: 0 });
    else known.items.push(item);
    this.#size += 1;
  }

  /** Undefined if none is left. */
  next(): T | undefined {
    for (const [name, line] of this.#lines) {
      const item = line.items[line.head];
      line.head += 1;
      this.#size -= 1;
      this.#lines.delete(name);
      if (line.head < line.items.length) this.#lines.set(name, compacted(line));
      return item;
    }
    return undefined;
  }
}

/** Taken items stay in the array until they make up half of it, to avoid a copy per turn. */
function compacted<T>(line: { items: T[]; head: number }): { items: T[]; head: number } {
  return line.head > 32 && line.head * 2 > line.items.length ? { items: line.items.slice(line.head), head: 0 } : line;
}
