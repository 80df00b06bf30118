import { retryDelayMs } from '@firsthand/core/delivery/retry.ts';
import type { Attempt } from '@firsthand/core/outcome/outcome.ts';
import { type Tried, tryBatch } from '../../transports/http.ts';
import type { Batch } from './batcher.ts';
import type { WorkerDeps } from './deps.ts';
import { batchId, type ItemVerdict, type Job, noteVerdict, type Part } from './job.ts';
import type { Limiter } from './limiter.ts';

const MAX_WAIT_MS = 60_000;
const NO_VERDICT: ItemVerdict = { kind: 'unavailable', reason: 'the answer says nothing of this item' };

/** Sends one integration's batches: no more at once than its cap, no sooner than its limits allow. */
export class SendQueue {
  readonly #deps: WorkerDeps;
  readonly #limiter: Limiter;
  readonly #finished: (job: Job) => void;
  readonly #moved: () => void;
  readonly #unwritten: () => number;
  readonly #integrationId: string;
  /** Those before the head are gone: kept, they would keep their events in memory for as long as others wait. */
  #ready: (Batch | undefined)[] = [];
  #head = 0;
  #active = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #loading = false;
  lastSuccessAt: number | undefined;
  lastError: { at: number; reason: string } | undefined;

  /** `finished`: every item of the job has its verdict. `moved`: a request ended. `unwritten`: settled, and not in the log yet. */
  constructor(
    deps: WorkerDeps,
    integrationId: string,
    limiter: Limiter,
    on: { finished: (job: Job) => void; moved: () => void; unwritten: () => number },
  ) {
    this.#deps = deps;
    this.#integrationId = integrationId;
    this.#limiter = limiter;
    this.#finished = on.finished;
    this.#moved = on.moved;
    this.#unwritten = on.unwritten;
  }

  get active(): number {
    return this.#active;
  }
  /** Nothing is under way and nothing waits for its turn. */
  get quiet(): boolean {
    return this.#active === 0 && this.#head === this.#ready.length;
  }

  push(batch: Batch): void {
    this.#ready.push(batch);
    this.pump();
  }
  pump(): void {
    while (!this.#stopped && this.#head < this.#ready.length) {
      const batch = this.#ready[this.#head]!;
      const cap = Math.max(1, batch.vendor.concurrency);
      if (this.#active >= cap) return;
      // What the vendor has and the log does not know yet would be sent again after a crash. So it is bounded, with what is under way.
      if (this.#active + this.#unwritten() >= 2 * cap * batch.parts.length) return;
      if (this.#limiter.mustLoad) {
        this.#load();
        return;
      }
      const wait = this.#limiter.take();
      if (wait > 0) {
        this.#wakeIn(wait);
        return;
      }
      this.#ready[this.#head++] = undefined;
      if (this.#head === this.#ready.length) {
        this.#ready = [];
        this.#head = 0;
      } else if (this.#head >= 1_024) {
        this.#ready = this.#ready.slice(this.#head);
        this.#head = 0;
      }
      void this.#send(batch);
    }
  }
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
  /** Gives up what has not been sent yet. */
  clear(): Part[] {
    const parts = this.#ready.slice(this.#head).flatMap((batch) => batch!.parts);
    this.#ready = [];
    this.#head = 0;
    return parts;
  }

  #wakeIn(ms: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.pump();
      },
      // A day's wait is looked at again now and then: the wall clock may be moved.
      Math.min(Math.ceil(ms), MAX_WAIT_MS),
    );
  }
  #load(): void {
    if (this.#loading) return;
    this.#loading = true;
    this.#limiter
      .load()
      .catch((error: unknown) => {
        this.#deps.logger.warn({ err: error, integration_id: this.#integrationId }, 'the count of the day cannot be read; trying on');
        this.#wakeIn(1_000);
      })
      .finally(() => {
        this.#loading = false;
        if (!this.#limiter.mustLoad) this.pump();
      });
  }

  async #send(batch: Batch): Promise<void> {
    this.#active++;
    const { parts, vendor } = batch;
    const id = vendor.batch === null ? parts[0]!.item.event_id : batchId(this.#integrationId, parts);
    const tried = await tryBatch({ vendor, items: parts.map((part) => part.item), attempt: batch.attempt }, id, this.#deps);
    this.#active--;
    const spoiled = tried.unbuildable || (tried.verdict.kind === 'unavailable' && tried.verdict.isolate === true);
    if (spoiled && parts.length > 1) {
      // One item spoils the request: alone, each gets what it deserves.
      for (const part of parts) this.#ready.push({ ...batch, parts: [part], bytes: part.item.size });
    } else this.#conclude(batch, tried);
    this.pump();
    this.#moved();
  }

  #conclude(batch: Batch, tried: Tried): void {
    const { parts, vendor } = batch;
    const { verdict } = tried;
    this.#deps.attempts.add(batch.compiled.integration.vendor, verdict.kind, tried.duration_ms);
    const rules = { max_retries: vendor.max_retries, base_ms: this.#deps.settings.retryBaseMs };
    // One draw for the whole request: what failed together comes due together.
    const random = this.#deps.random();
    const at = isoOf(tried.at);
    const attemptOf = (error: string | null): Attempt => ({ at, status: tried.status, error, duration_ms: tried.duration_ms });
    const delivered = attemptOf(null);
    if (verdict.kind === 'delivered') {
      for (const part of parts) if (noteVerdict(part, verdict, delivered, undefined)) this.#finished(part.job);
      this.lastSuccessAt = tried.at + tried.duration_ms;
      return;
    }
    const verdicts = parts.map(
      (_part, index): ItemVerdict => (verdict.kind === 'partial' ? (verdict.items[index] ?? NO_VERDICT) : verdict),
    );
    if (vendor.batch !== null) placeRetries(this.#integrationId, parts, verdicts);
    let failed: Exclude<ItemVerdict, { kind: 'delivered' }> | undefined;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!;
      const own = verdicts[i]!;
      const delay = own.kind === 'unavailable' ? retryDelayMs(batch.attempt, rules, random, own.retry_after_ms) : undefined;
      if (own.kind !== 'delivered') failed = own;
      if (noteVerdict(part, own, own.kind === 'delivered' ? delivered : attemptOf(own.reason), delay)) this.#finished(part.job);
    }
    if (failed) this.lastError = { at: tried.at + tried.duration_ms, reason: failed.reason };
    else this.lastSuccessAt = tried.at + tried.duration_ms;
  }
}

let lastMs = 0;
let lastIso = '';
/** Many tries begin in the same millisecond. */
function isoOf(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastIso = new Date(ms).toISOString();
  }
  return lastIso;
}

/** The items to be tried again are a batch of their own from now on, the same one at every further try. */
function placeRetries(integrationId: string, parts: Part[], verdicts: ItemVerdict[]): void {
  const again = parts.filter((part, i) => verdicts[i]!.kind === 'unavailable' && part.job.items.length === 1);
  if (again.length === 0) return;
  const id = batchId(integrationId, again);
  for (const [index, part] of again.entries()) part.job.batch = { id, index, size: again.length };
}
