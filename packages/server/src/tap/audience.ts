/**
 * All watchers of one organisation, behind one subscription: a frame is serialised once for all of them. A time budget bounds the cost for
 * the process; frames beyond it are skipped and counted, as for a slow reader.
 */
import type { Clock } from '../runtime/clock.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import { type TimedFrame, watchTap } from './tap.ts';

export const FILTERS = ['pipeline_id', 'integration_id', 'stage', 'event'] as const;
export type Filter = Partial<Record<(typeof FILTERS)[number], string>>;
/** A reader gets the frames that any of its filters lets pass; without a filter none, and with an empty one all. */
export type Filters = readonly Filter[];

export interface Outlet {
  readonly bufferedAmount: number;
  send(text: string): void;
}

export const MAX_BUFFERED_BYTES = 262_144;
/** How soon a reader that can receive again gets the number of lost frames, if no frame carries it earlier. */
export const TELL_EVERY_MS = 250;
/** Milliseconds per second that frames may take. Unused time is saved for a burst. */
const MS_PER_SECOND = 20;
const MOST_SAVED_MS = 250;

/** One budget per process, so that watchers of many organisations together cannot slow the pipeline either. */
export class TapBudget {
  readonly #clock: Clock;
  #saved = MOST_SAVED_MS;
  #at: number;
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.monotonic();
  }
  /** Runs `work` unless the budget is used up. Returns whether it ran. */
  spend(work: () => void): boolean {
    const start = this.#clock.monotonic();
    this.#saved = Math.min(MOST_SAVED_MS, this.#saved + ((start - this.#at) * MS_PER_SECOND) / 1_000);
    this.#at = start;
    if (this.#saved <= 0) return false;
    work();
    this.#saved -= this.#clock.monotonic() - start;
    return true;
  }
  /** Runs `work` in any case and counts its time. */
  charge(work: (time: string) => void): void {
    const start = this.#clock.monotonic();
    work(new Date(this.#clock.now()).toISOString());
    this.#saved -= this.#clock.monotonic() - start;
  }
}

export class Watcher {
  readonly #outlet: Outlet;
  #filters: Filters = [];
  filtered = true;
  /** The part of the audience's skipped count already reported to this watcher. */
  skippedUpTo = 0;
  skipped = 0;
  #seq = 0;
  constructor(outlet: Outlet, filters: Filters) {
    this.#outlet = outlet;
    this.setFilters(filters);
  }
  setFilters(filters: Filters): void {
    this.#filters = filters;
    this.filtered = filters.every((filter) => Object.keys(filter).length > 0);
  }
  get wantsFrames(): boolean {
    return this.#filters.length > 0;
  }
  passes(frame: TimedFrame): boolean {
    return !this.filtered || this.#filters.some((filter) => passes(frame, filter));
  }
  show(frame: TimedFrame, rest: string): void {
    if (this.tellSkipped(frame.time)) this.#outlet.send(`{"time":"${frame.time}","seq":${++this.#seq}${rest}`);
    else this.skipped++;
  }
  /** Reports lost frames. Returns false if the reader cannot receive now. */
  tellSkipped(time: string): boolean {
    if (this.#outlet.bufferedAmount > MAX_BUFFERED_BYTES) return false;
    if (this.skipped > 0) {
      this.#outlet.send(`{"time":"${time}","seq":${++this.#seq},"stage":"skipped","count":${this.skipped}}`);
      this.skipped = 0;
    }
    return true;
  }
}

export class Audience {
  readonly #watchers = new Set<Watcher>();
  readonly #filtered = new Set<Watcher>();
  readonly #budget: TapBudget;
  readonly #hide: (frame: TimedFrame) => TimedFrame;
  readonly #watch: () => () => void;
  /** Undefined while no watcher wants frames: the roles then build none. */
  #unwatch: (() => void) | undefined;
  /** Frames shown to nobody. Watchers with a filter get the number of matching ones only. */
  #skipped = 0;
  /** Runs while a watcher has lost frames that were not reported to it. */
  #telling: NodeJS.Timeout | undefined;

  /** `hide` masks secrets in a frame before it is shown. */
  constructor(ephemeral: Ephemeral, orgId: string, budget: TapBudget, hide: (frame: TimedFrame) => TimedFrame = (frame) => frame) {
    this.#budget = budget;
    this.#hide = hide;
    this.#watch = () => watchTap(ephemeral, orgId, (frame) => this.#receive(frame));
  }
  get size(): number {
    return this.#watchers.size;
  }
  join(watcher: Watcher): void {
    watcher.skippedUpTo = this.#skipped;
    this.#watchers.add(watcher);
    this.#sort(watcher);
  }
  setFilters(watcher: Watcher, filters: Filters): void {
    this.#catchUp(watcher);
    watcher.setFilters(filters);
    this.#sort(watcher);
  }
  leave(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    this.#filtered.delete(watcher);
    this.#watchIfWanted();
    if (this.#watchers.size === 0) this.#stopTelling();
  }
  #sort(watcher: Watcher): void {
    if (watcher.filtered) this.#filtered.add(watcher);
    else this.#filtered.delete(watcher);
    this.#watchIfWanted();
  }
  #watchIfWanted(): void {
    if (this.#watchers.values().some(({ wantsFrames }) => wantsFrames)) this.#unwatch ??= this.#watch();
    else {
      this.#unwatch?.();
      this.#unwatch = undefined;
    }
  }

  #receive(frame: TimedFrame): void {
    if (this.#budget.spend(() => this.#show(frame))) return;
    // Watchers without a filter share one count.
    this.#skipped++;
    for (const watcher of this.#filtered) if (watcher.passes(frame)) watcher.skipped++;
    this.#tellLater();
  }
  #show(frame: TimedFrame): void {
    let rest: string | undefined;
    for (const watcher of this.#watchers) {
      this.#catchUp(watcher);
      if (watcher.passes(frame)) watcher.show(frame, (rest ??= restOf(this.#hide(frame))));
      if (watcher.skipped > 0) this.#tellLater();
    }
  }
  #tellLater(): void {
    this.#telling ??= setInterval(() => this.#budget.charge((time) => this.#tell(time)), TELL_EVERY_MS).unref();
  }
  #tell(time: string): void {
    let isPending = false;
    for (const watcher of this.#watchers) {
      this.#catchUp(watcher);
      if (watcher.skipped > 0 && !watcher.tellSkipped(time)) isPending = true;
    }
    if (!isPending) this.#stopTelling();
  }
  #stopTelling(): void {
    clearInterval(this.#telling);
    this.#telling = undefined;
  }
  #catchUp(watcher: Watcher): void {
    if (!watcher.filtered) watcher.skipped += this.#skipped - watcher.skippedUpTo;
    watcher.skippedUpTo = this.#skipped;
  }
}

function passes(frame: TimedFrame, filter: Filter): boolean {
  for (const name of FILTERS) {
    const wanted = filter[name];
    if (wanted === undefined || frame[name] === wanted) continue;
    // `@page`, `@identify`, `@group`, `@screen`, `@alias`, as in every place where events are named.
    if (name !== 'event' || frame.type === 'track') return false;
    if (wanted !== `@${frame.type}` && wanted !== `@${frame.original_type}`) return false;
  }
  return true;
}

/** The frame as JSON without its number, which differs per watcher. */
function restOf(frame: TimedFrame): string {
  const { stage, pipeline_id = null, integration_id = null, event_id = null, type = null, event = null } = frame;
  // Undefined, and so left out, for most events.
  const { original_type, reason = null, duration_ms = null, status = null, payload = null } = frame;
  const fields = { stage, pipeline_id, integration_id, event_id, type, original_type, event, reason, duration_ms, status, payload };
  return `,${JSON.stringify(fields).slice(1)}`;
}
