import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

interface Told {
  port?: number;
  total?: number;
  distinct?: number;
  ids?: string[];
  repeated?: [string, number][];
  latencies?: number[];
  arrivals?: [string, number][];
}

/** The parent's side of `sink-process.ts`. */
export class Sink {
  readonly url: string;
  readonly #child: ChildProcess;
  /** Events so far, including duplicates; up to 50 ms old. */
  total = 0;
  distinct = 0;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
    child.on('message', (told: Told) => {
      if (told.total === undefined) return;
      this.total = told.total;
      this.distinct = told.distinct!;
    });
  }
  static async start({ delayMs = 0 }: { delayMs?: number } = {}): Promise<Sink> {
    const child = fork(join(import.meta.dirname, 'sink-process.ts'), [String(delayMs)], { serialization: 'advanced' });
    const [{ port }] = (await once(child, 'message')) as [Told];
    return new Sink(child, port!);
  }
  async ids(): Promise<{ ids: Set<string>; repeated: Map<string, number> }> {
    const told = await this.#ask('ids', (answer) => answer.ids !== undefined);
    return { ids: new Set(told.ids), repeated: new Map(told.repeated) };
  }
  /** Milliseconds between each event's `sent_at` and its arrival, since the last call. */
  async latencies(): Promise<number[]> {
    return (await this.arrived()).latencies;
  }
  /** The same, with the id and the time of each arrival, in milliseconds since 1970. */
  async arrived(): Promise<{ latencies: number[]; arrivals: [string, number][] }> {
    const { latencies = [], arrivals = [] } = await this.#ask('latencies', (answer) => answer.latencies !== undefined);
    return { latencies, arrivals };
  }
  /**
   * Waits until all wanted events have arrived, or until none arrived for so long that the rest is lost. A number is enough if only
   * accepted events can arrive. After a kill, an unanswered event may arrive in place of an accepted one: pass the ids then.
   */
  async settle(wanted: number | ReadonlySet<string>, withinMs: number, quietMs = 15_000): Promise<void> {
    const count = typeof wanted === 'number' ? wanted : wanted.size;
    const isHere = async () => {
      if (typeof wanted === 'number') return true;
      const { ids } = await this.ids();
      return [...wanted].every((id) => ids.has(id));
    };
    const end = performance.now() + withinMs;
    let last = -1;
    let since = performance.now();
    while (performance.now() < end) {
      if (this.total !== last) {
        last = this.total;
        since = performance.now();
      }
      const still = performance.now() - since;
      if (still > quietMs || (this.distinct >= count && still > 400 && (await isHere()))) return;
      await sleep(this.distinct >= count ? 400 : 50);
    }
  }
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || !this.#child.connected) return;
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }
  #ask(question: string, is: (told: Told) => boolean): Promise<Told> {
    return new Promise((resolve) => {
      const listen = (told: Told) => {
        if (!is(told)) return;
        this.#child.off('message', listen);
        resolve(told);
      };
      this.#child.on('message', listen);
      this.#child.send(question);
    });
  }
}
