import { Deduplication, INGEST_IDS, OTHER_IDS } from './deduplication.ts';
import type { Environment } from './environment.ts';

/** What a thread writes: all topics, those of ingest, or all but those. A topic has one writer. */
export type Part = 'all' | 'ingest' | 'others';
const INGEST_FAMILY = 'ingest';

const SWEEP_MS = 1_000;
const TEND_AGAIN_MS = 10;
/** A process that is killed leaves the ids since then to be read from the journal. The file has up to 64 MB. */
const SAVE_MS = 300_000;

/** The ids inside the deduplication window, of the topics that a thread writes. */
export class KnownIds {
  readonly #ingest: Deduplication | undefined;
  readonly #other: Deduplication | undefined;
  readonly #all: readonly Deduplication[];

  constructor(environment: Environment, windowMs: number, steady: () => number, part: Part) {
    if (part !== 'others') this.#ingest = new Deduplication(environment, windowMs, steady, INGEST_IDS);
    if (part !== 'ingest') this.#other = new Deduplication(environment, windowMs, steady, OTHER_IDS);
    this.#all = [this.#ingest, this.#other].filter((each) => each !== undefined);
  }

  /** The newest time that was stored with an id. The clock must not go back below it. */
  get lastKnownTime(): number {
    return Math.max(...this.#all.map((each) => each.lastKnownTime));
  }

  begin(): void {
    for (const each of this.#all) each.begin();
  }
  /** Returns true if the id is new. */
  admit(family: string, id: string): boolean {
    const known = family === INGEST_FAMILY ? this.#ingest : this.#other;
    if (known === undefined) throw new Error(`topics of ${family} are written by another thread`);
    return known.admit(family, id);
  }
  write(): void {
    for (const each of this.#all) each.write();
  }
  committed(): void {
    for (const each of this.#all) each.committed();
  }
  failed(): void {
    for (const each of this.#all) each.failed();
  }

  async save(): Promise<void> {
    await Promise.all(this.#all.map((each) => each.save()));
  }

  tend(): boolean {
    let isMore = false;
    for (const each of this.#all) isMore = each.tend() || isMore;
    return isMore;
  }
  get hasExpired(): boolean {
    return this.#all.some((each) => each.hasExpired);
  }
  expire(): { entries: number; write: () => void } {
    const expired = this.#all.map((each) => each.expire());
    return {
      entries: expired.reduce((sum, { entries }) => sum + entries, 0),
      write() {
        for (const { write } of expired) write();
      },
    };
  }
}

interface UpkeepDeps {
  ids: KnownIds;
  isAvailable: () => boolean;
  write(prepare: () => () => void): Promise<void>;
  onError(error: unknown): void;
}

/** Removes ids that are past the window, completes the filter of known ids after a start, and saves it. */
export class IdUpkeep {
  readonly #deps: UpkeepDeps;
  readonly #sweep: NodeJS.Timeout;
  readonly #saves: NodeJS.Timeout;
  #saving: Promise<void> = Promise.resolve();
  #tending: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;

  constructor(deps: UpkeepDeps) {
    this.#deps = deps;
    this.#sweep = setInterval(() => this.#look(), SWEEP_MS).unref();
    this.#saves = setInterval(() => void this.save(), SAVE_MS).unref();
    this.#tend();
  }

  #look(): void {
    if (this.#tending === undefined) this.#tend();
    this.#sweeping ??= this.#expire()
      .catch(this.#deps.onError)
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  /** Without a saved filter and with ten million ids in the window this takes some ten seconds, at a fifth of the loop's time. */
  #tend(): void {
    if (this.#deps.ids.tend()) this.#tending = setTimeout(() => this.#tend(), TEND_AGAIN_MS).unref();
    else this.#tending = undefined;
  }

  /** Works in slices until nothing is left, so that it keeps up with any load. Each slice shares a commit with other work. */
  async #expire(): Promise<void> {
    const { ids, isAvailable, write } = this.#deps;
    for (let removed = 1; removed > 0 && ids.hasExpired && isAvailable(); )
      await write(() => {
        const { entries, write } = ids.expire();
        removed = entries;
        return write;
      });
  }

  /** Resolves when a running sweep has ended. */
  async stop(): Promise<void> {
    clearTimeout(this.#tending);
    clearInterval(this.#sweep);
    clearInterval(this.#saves);
    await this.#sweeping;
  }
  /** Leaves the filter to the next process. Call after the last commit, too. */
  save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#deps.ids.save()).catch(this.#deps.onError);
    return this.#saving;
  }
}
