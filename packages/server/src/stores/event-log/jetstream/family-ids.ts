import { LogUnavailable } from '../port.ts';
import { IdWindow } from './id-window.ts';
import type { Layout } from './names.ts';
import type { Packed } from './record-batch.ts';
import type { IdScanner } from './scan-ids.ts';
import type { Entry } from './topic-writer.ts';

/** Each topic of dead letters is a family. Above this number, those not used for longest are dropped; their next use reads the ids again. */
const MOST_FAMILIES = 1_000;
/** Bounds the time that the first append waits. */
const MOST_SCANNED = 100_000;
/** Records that a dead process wrote and did not settle are younger than this. */
const TAKEOVER_MS = 60_000;
const OVERLAP_MS = 2_000;

export interface FamilyIdsDeps {
  layout: Layout;
  scanner: IdScanner;
  windowMs: number;
  now(): number;
}

/**
 * The ids that this process has stored lately, and those that it is storing. It starts with what the family's message headers say, and reads
 * them again when it takes a partition over. Ids that other processes store at the same moment are unknown here: the reader of a topic drops
 * them, see `topic-feed.ts`.
 */
export class FamilyIds {
  readonly #family: string;
  readonly #deps: FamilyIdsDeps;
  readonly #window: IdWindow;
  readonly #pending = new Map<string, Entry>();
  #scannedAt = Number.NEGATIVE_INFINITY;
  usedAt: number;
  /** Resolves when the window is loaded. */
  readonly ready: Promise<void>;

  constructor(family: string, deps: FamilyIdsDeps) {
    this.#family = family;
    this.#deps = deps;
    this.usedAt = deps.now();
    this.#window = new IdWindow(deps.windowMs);
    this.ready = this.#scan(deps.now() - deps.windowMs);
  }

  /** Reads what other processes have stored since the last time. */
  refresh(): Promise<void> {
    return this.#scan(Math.max(this.#scannedAt - OVERLAP_MS, this.#deps.now() - TAKEOVER_MS));
  }
  async #scan(since: number): Promise<void> {
    const { layout, now, scanner } = this.#deps;
    const at = now();
    const visit = ({ hashes, time }: { hashes: Buffer; time: number }) => this.#window.addAll(hashes, () => 0, time);
    await Promise.all(
      layout.familyFilters(this.#family).map(({ stream, filters }) => scanner.scan({ stream, filters, since, most: MOST_SCANNED }, visit)),
    );
    this.#scannedAt = at;
  }

  isStored({ hash }: Packed): boolean {
    return this.#window.get(hash, 0, this.#deps.now()) !== undefined;
  }
  stored({ hash }: Packed): void {
    this.#window.add(hash, 0, 0, this.#deps.now());
  }

  pending(id: string): Entry | undefined {
    return this.#pending.get(id);
  }
  get isIdle(): boolean {
    return this.#pending.size === 0;
  }
  begin(id: string, entry: Entry): void {
    this.usedAt = this.#deps.now();
    this.#pending.set(id, entry);
  }
  end(id: string): void {
    this.#pending.delete(id);
  }
}

/** The ids of all families that this process has written to. */
export class AllIds {
  readonly #families = new Map<string, FamilyIds>();
  readonly #make: (family: string) => FamilyIds;
  readonly #dropped: (families: ReadonlySet<string>) => void;
  readonly #most: number;
  #refreshing: Promise<unknown> | undefined;
  #queued: Promise<unknown> | undefined;

  /** `dropped` must forget the ids of these families too. */
  constructor(make: (family: string) => FamilyIds, dropped: (families: ReadonlySet<string>) => void, most = MOST_FAMILIES) {
    this.#make = make;
    this.#dropped = dropped;
    this.#most = most;
  }

  async of(family: string): Promise<FamilyIds> {
    let ids = this.#families.get(family);
    if (!ids) {
      if (this.#families.size >= this.#most) this.#dropIdle();
      ids = this.#make(family);
      this.#families.set(family, ids);
      ids.ready.catch(() => this.#families.delete(family));
    }
    try {
      await ids.ready;
    } catch (error) {
      if (error instanceof LogUnavailable) throw error;
      throw new LogUnavailable(`the ids of ${family} cannot be read: ${(error as Error).message}`, { cause: error });
    }
    return ids;
  }

  /** Drops a quarter at once. */
  #dropIdle(): void {
    const idle = [...this.#families].filter(([, ids]) => ids.isIdle).sort(([, a], [, b]) => a.usedAt - b.usedAt);
    const dropped = new Set(idle.slice(0, Math.ceil(this.#most / 4)).map(([family]) => family));
    for (const family of dropped) this.#families.delete(family);
    this.#dropped(dropped);
  }

  /** Call before the records of a dead process are processed again. Calls at the same time share one scan. */
  async refresh(): Promise<void> {
    const running = this.#refreshing;
    // A scan that has begun may have passed the headers that the caller needs.
    this.#queued ??= Promise.resolve(running)
      .catch(() => {})
      .then(() => {
        this.#queued = undefined;
        this.#refreshing = Promise.all([...this.#families.values()].map((ids) => ids.refresh()));
        return this.#refreshing;
      });
    await this.#queued;
  }
}
