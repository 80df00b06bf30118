/**
 * Live counts on the debug socket: statistics of the last minutes, sent again every two seconds to those who asked. One read serves all who
 * ask for the same. Reads follow one another, and the next round waits 20 times as long as they took, so that they use at most a twentieth
 * of the store's time. An organisation that asks for more than its share of a round gets the rest with the next ones, so that the others
 * need not wait for it.
 */
import { ApiError } from '../http/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { MAX_BUFFERED_BYTES, type Outlet } from './audience.ts';

export const COUNTS_EVERY_MS = 2_000;
const REST_FACTOR = 20;
/** No read of an organisation begins after this time in a round. */
const SHARE_MS = 50;
/** Per socket. */
export const MAX_SCOPES = 4;
/** Five whole minutes and the current one. */
const COUNTED_MINUTES = 6;
export function lastMinutes(now: number): { from: string; to: string; interval: 'minute' } {
  const current = Math.floor(now / 60_000);
  const from = new Date((current - COUNTED_MINUTES + 1) * 60_000).toISOString();
  return { from, to: new Date(now).toISOString(), interval: 'minute' };
}

const GROUPS = ['pipeline_id', 'integration_id'] as const;
const SCOPE_FIELDS = ['pipeline_id', 'pipeline_ids', 'group_by'] as const;
/** Like the parameters of `GET /v1/admin/stats`. */
export interface CountsScope {
  pipeline_id?: string;
  pipeline_ids?: string;
  group_by?: (typeof GROUPS)[number];
}
/** Throws an `ApiError` for a scope that does not exist. */
export type ReadCounts = (orgId: string, scope: CountsScope) => Promise<object>;

export class LiveCounts {
  readonly #read: ReadCounts;
  readonly #clock: Clock;
  readonly #asked = new Map<Outlet, { orgId: string; scopes: readonly CountsScope[] }>();
  /** Where the next round goes on, by organisation. */
  #first = new Map<string, number>();
  #next: NodeJS.Timeout | undefined;
  #isReading = false;
  constructor(read: ReadCounts, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }
  /** Replaces what this reader asked for. Without scopes it gets no more counts. */
  ask(outlet: Outlet, orgId: string, scopes: readonly CountsScope[]): void {
    this.#asked.set(outlet, { orgId, scopes });
    if (scopes.length === 0) this.leave(outlet);
    // The first reader is served at once, later ones with the next round: asking often does not read more often.
    else if (this.#next === undefined && !this.#isReading) void this.#round();
  }
  leave(outlet: Outlet): void {
    this.#asked.delete(outlet);
    if (this.#asked.size > 0) return;
    clearTimeout(this.#next);
    this.#next = undefined;
  }

  async #round(): Promise<void> {
    this.#isReading = true;
    const start = this.#clock.monotonic();
    const wanted = new Map<string, Map<string, { scope: CountsScope; outlets: Outlet[] }>>();
    for (const [outlet, { orgId, scopes }] of this.#asked) {
      const own = wanted.get(orgId) ?? new Map<string, { scope: CountsScope; outlets: Outlet[] }>();
      wanted.set(orgId, own);
      for (const scope of scopes) {
        const key = JSON.stringify(scope);
        const same = own.get(key);
        if (same === undefined) own.set(key, { scope, outlets: [outlet] });
        else same.outlets.push(outlet);
      }
    }
    const first = new Map<string, number>();
    for (const [orgId, own] of wanted) {
      const scopes = [...own.values()];
      let at = this.#first.get(orgId) ?? 0;
      const end = this.#clock.monotonic() + SHARE_MS;
      for (let n = 0; n < scopes.length && (n === 0 || this.#clock.monotonic() < end); n++, at++) {
        const { scope, outlets } = scopes[at % scopes.length]!;
        const text = await this.#messageOf(orgId, scope);
        // A slow reader gets the next ones: each replaces the one before.
        for (const outlet of outlets) if (this.#asked.has(outlet) && outlet.bufferedAmount <= MAX_BUFFERED_BYTES) outlet.send(text);
      }
      first.set(orgId, at % scopes.length);
    }
    this.#first = first;
    this.#isReading = false;
    const wait = Math.max(COUNTS_EVERY_MS, REST_FACTOR * (this.#clock.monotonic() - start));
    this.#next = this.#asked.size === 0 ? undefined : setTimeout(() => void this.#round(), wait).unref();
  }
  async #messageOf(orgId: string, scope: CountsScope): Promise<string> {
    try {
      const counts = await this.#read(orgId, scope);
      return JSON.stringify({ time: new Date(this.#clock.now()).toISOString(), stage: 'counts', scope, counts }, withoutNothing);
    } catch (error) {
      const reason = error instanceof ApiError ? error.message : 'the counts cannot be read now';
      return JSON.stringify({ stage: 'error', scope, reason });
    }
  }
}

/** Most counts of a minute are zero: they are left out. */
function withoutNothing(key: string, value: unknown): unknown {
  return key !== 'waiting' && (value === 0 || value === null) ? undefined : value;
}

/** The scopes of a message `{"type": "counts", "scopes": […]}`; undefined where they are not valid. */
export function readScopes(scopes: unknown): CountsScope[] | undefined {
  if (!Array.isArray(scopes) || scopes.length > MAX_SCOPES) return undefined;
  const read: CountsScope[] = [];
  for (const asked of scopes) {
    if (typeof asked !== 'object' || asked === null) return undefined;
    const scope: Record<string, string> = {};
    for (const name of SCOPE_FIELDS) {
      const value = (asked as Record<string, unknown>)[name];
      if (value === undefined) continue;
      if (typeof value !== 'string' || (name === 'group_by' && !(GROUPS as readonly string[]).includes(value))) return undefined;
      scope[name] = value;
    }
    read.push(scope);
  }
  return read;
}
