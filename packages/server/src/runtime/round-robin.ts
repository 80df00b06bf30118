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

  /** At most this many, in the order in which they should run. */
  take(most: number): T[] {
    const taken: T[] = [];
    while (taken.length < most && this.#size > 0) {
      // One line alone needs no turns: the usual case.
      const each = this.#lines.size === 1 ? most - taken.length : 1;
      for (const [name, line] of this.#lines) {
        if (taken.length === most) break;
        const next = line.items.slice(line.head, line.head + each);
        taken.push(...next);
        line.head += next.length;
        this.#size -= next.length;
        this.#lines.delete(name);
        if (line.head < line.items.length) this.#lines.set(name, compacted(line));
        // A map visits entries that are added while it is walked: one turn for each line, then again from the front.
        if (each > 1 || this.#lines.size === 0) break;
      }
    }
    return taken;
  }

  clear(): void {
    this.#lines.clear();
    this.#size = 0;
  }
}

/** Taken items stay in the array until they make up half of it, to avoid a copy per turn. */
function compacted<T>(line: { items: T[]; head: number }): { items: T[]; head: number } {
  return line.head > 32 && line.head * 2 > line.items.length ? { items: line.items.slice(line.head), head: 0 } : line;
}
