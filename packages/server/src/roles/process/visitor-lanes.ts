/**
 * Processes one partition. Each organisation's events are begun and committed beside those of the others, so that one with a long backlog does
 * not delay them. Each visitor has a lane: their events run in order, and a slow one delays no other visitor. Finished events are committed
 * while others run.
 */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { type ProcessDeps as ProcessEventDeps, type Processed, processEvent } from '@firsthand/core/process/process-event.ts';
import type { VisitorState } from '@firsthand/core/process/visitor.ts';
import { atStep } from '../../runtime/stall-watch.ts';
import { finishInLongTurns, turns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';
import { CommitGroups } from './commit-groups.ts';
import { commit, type Done } from './commit-processed.ts';
import type { ProcessDeps } from './deps.ts';
import { type IngestRecord, laneKey, type RawRecord, readIngestRecord, readIngestRecordInSteps } from './ingest-record.ts';
import type { KnownPipelines } from './known-pipelines.ts';
import { type KnownVisitor, NOTHING, type VisitorCache } from './visitor-cache.ts';

interface Lane extends KnownVisitor {
  key: string;
  waiting: IngestRecord[];
  running: boolean;
  /** Events of this lane that are not durable yet, finished or not. */
  unsettled: number;
  /** Raised when the visitor is erased: state learned before that is discarded. */
  epoch: number;
}
/** An organisation's events that are not durable yet. */
interface Share {
  events: number;
  bytes: number;
  /** Read and not begun. */
  waiting: RawRecord[];
  isBeginning: boolean;
}
type Commits = CommitGroups<{ done: Done; lane: Lane }>;

export interface VisitorLanesDeps extends ProcessDeps {
  cache: VisitorCache;
  pipelines: KnownPipelines;
}

/** Events above this size are processed in slices, a smaller one takes a few milliseconds at most. */
const LARGE_BYTES = 16_384;
/** Events of an organisation that are opened together: one query reads their visitors. */
const MAX_GROUP = 32;
/** Of one organisation in memory. */
const SHARE = { events: 256, bytes: 2 * 1024 * 1024 };
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const LOOK_AGAIN_MS = 250;

export class VisitorLanes {
  readonly #topic: string;
  readonly #deps: VisitorLanesDeps;
  readonly #eventDeps: ProcessEventDeps;
  readonly #lanes = new Map<string, Lane>();
  readonly #shares = new Map<string, Share>();
  /** By organisation, so that nobody's events wait for another's commit. A log that pays messages for each commit has one entry for all. */
  readonly #commits = new Map<string, Commits>();
  #events = 0;
  #bytes = 0;
  /** Organisations whose events are being begun. */
  #beginning = 0;
  #stopped = false;
  #waitingForChange: (() => void)[] = [];

  constructor(topic: string, deps: VisitorLanesDeps) {
    this.#topic = topic;
    this.#deps = deps;
    this.#eventDeps = { runCode: deps.sandbox.run, turn: turns.bulk, ...(deps.geo && { geo: deps.geo }) };
  }

  get unsettled(): number {
    let count = 0;
    for (const { waiting } of this.#shares.values()) count += waiting.length;
    for (const lane of this.#lanes.values()) count += lane.unsettled;
    return count;
  }

  /** All events that are not durable yet. */
  get events(): number {
    return this.#events;
  }
  /** Bytes of all events that are not durable yet. */
  get bytes(): number {
    return this.#bytes;
  }
  /** Events of the organisation that are not durable yet. */
  eventsOf(orgId: string): number {
    return this.#shares.get(orgId)?.events ?? 0;
  }
  /** Whether the organisation has its share of the events in memory. */
  isFull(orgId: string): boolean {
    const share = this.#shares.get(orgId);
    return share !== undefined && (share.events >= SHARE.events || share.bytes >= SHARE.bytes);
  }
  /** Resolves when further events are durable, or with `stop`. */
  changed(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForChange.push(resolve));
  }

  /** Call `begin` after the last one. */
  push(record: RawRecord): void {
    if (this.#stopped) return;
    const { org_id } = record.envelope;
    this.#events += 1;
    this.#bytes += record.bytes;
    const share = this.#shares.get(org_id);
    if (share === undefined) this.#shares.set(org_id, { events: 1, bytes: record.bytes, waiting: [record], isBeginning: false });
    else {
      share.events += 1;
      share.bytes += record.bytes;
      share.waiting.push(record);
    }
  }
  begin(): void {
    // The one with the fewest first: in this turn of the loop it waits for nobody.
    const shares = this.#shares.size > 1 ? [...this.#shares].sort(([, a], [, b]) => a.waiting.length - b.waiting.length) : this.#shares;
    for (const [orgId, share] of shares) if (share.waiting.length > 0 && !share.isBeginning) void this.#beginAll(orgId, share);
  }

  async #beginAll(orgId: string, share: Share): Promise<void> {
    share.isBeginning = true;
    this.#beginning += 1;
    while (share.waiting.length > 0 && !this.#stopped) {
      const records: IngestRecord[] = [];
      for (const raw of share.waiting.splice(0, MAX_GROUP)) {
        const turn = turns.next(orgId);
        if (turn !== undefined) await turn;
        if (raw.bytes > VERY_LARGE_BYTES) {
          records.push(await finishInLongTurns(readIngestRecordInSteps(raw), () => atStep('read')));
          continue;
        }
        atStep('read');
        records.push(readIngestRecord(raw));
      }
      await this.#openLanes(orgId, records);
      for (const record of records) {
        const turn = turns.next(orgId);
        if (turn !== undefined) await turn;
        if (this.#stopped) return;
        const lane = this.#lanes.get(laneKey(record))!;
        lane.waiting.push(record);
        this.#run(lane);
      }
    }
    share.isBeginning = false;
    this.#beginning -= 1;
    if (this.#deps.log.atomic || this.#beginning === 0) this.#commits.get(this.#lineOf(orgId))?.commitSoon();
    this.#forgetIfSettled(orgId, share);
  }
  #forgetIfSettled(orgId: string, { events, isBeginning }: Share): void {
    if (events > 0 || isBeginning) return;
    this.#shares.delete(orgId);
    // Nothing is left to commit.
    if (this.#deps.log.atomic) this.#commits.delete(orgId);
  }

  /** The key in `#commits`. */
  #lineOf(orgId: string): string {
    return this.#deps.log.atomic ? orgId : '';
  }
  #commitsOf(orgId: string): Commits {
    const line = this.#lineOf(orgId);
    let commits = this.#commits.get(line);
    if (commits === undefined) {
      const isAtomic = this.#deps.log.atomic;
      commits = new CommitGroups({ isAtomic, bytesOf: ({ done }) => done.record.bytes, commit: (group) => this.#commit(group) });
      this.#commits.set(line, commits);
    }
    return commits;
  }

  /** Waits until all events that were begun are durable, or until the time is up. The others are left to the next owner. */
  async drain(withinMs: number): Promise<void> {
    this.#dropWaiting();
    const end = this.#deps.clock.monotonic() + withinMs;
    while (this.unsettled > 0 && this.#deps.clock.monotonic() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** After this resolves nothing is stored, saved or acknowledged. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#dropWaiting();
    this.#change();
    await Promise.all(Array.from(this.#commits.values(), (commits) => commits.stop()));
    this.#lanes.clear();
  }

  #dropWaiting(): void {
    for (const share of this.#shares.values()) share.waiting = [];
  }

  forget(orgId: string, anonymousId: string): void {
    const lane = this.#lanes.get(`${orgId}\na\n${anonymousId}`);
    if (lane === undefined) return;
    lane.state = NOTHING;
    lane.saved = NOTHING;
    lane.epoch += 1;
  }

  /** Opens the lanes that are missing, of one organisation's events. One query reads the states of their visitors. */
  async #openLanes(orgId: string, records: readonly IngestRecord[]): Promise<void> {
    const missing = new Map<string, string>();
    for (const record of records) {
      const { anonymous_id } = record.envelope;
      const key = laneKey(record);
      const lane = this.#lanes.get(key);
      if (lane !== undefined) {
        lane.unsettled += 1;
        continue;
      }
      const known = anonymous_id === undefined ? { state: NOTHING, saved: NOTHING } : this.#deps.cache.get(orgId, anonymous_id);
      this.#lanes.set(key, {
        key,
        state: known?.state ?? NOTHING,
        saved: known?.saved ?? NOTHING,
        waiting: [],
        running: false,
        unsettled: 1,
        epoch: 0,
      });
      if (known === undefined) missing.set(key, anonymous_id!);
    }
    if (missing.size === 0) return;
    const loaded = await this.#load(orgId, [...missing.values()]);
    let i = 0;
    for (const key of missing.keys()) Object.assign(this.#lanes.get(key) ?? {}, loaded?.[i++]);
  }

  async #load(orgId: string, anonymousIds: string[]): Promise<KnownVisitor[] | undefined> {
    return this.#persist('visitors not readable, retrying', () => this.#deps.cache.load(orgId, anonymousIds));
  }

  #run(lane: Lane): void {
    while (!lane.running && lane.waiting.length > 0 && !this.#stopped) {
      const record = lane.waiting.shift()!;
      const { epoch } = lane;
      const result = this.#process(record, lane);
      if (result === 'later') {
        lane.waiting.unshift(record);
        lane.running = true;
        setTimeout(() => this.#resume(lane), LOOK_AGAIN_MS).unref();
      } else if (result instanceof Promise) {
        lane.running = true;
        void result.then((settled) => {
          this.#finish(record, lane, epoch, settled);
          this.#resume(lane);
        });
      } else this.#finish(record, lane, epoch, result);
    }
  }
  #resume(lane: Lane): void {
    lane.running = false;
    this.#run(lane);
  }

  #process(record: IngestRecord, lane: Lane): Processed | Promise<Processed> | 'later' {
    const { envelope, event } = record;
    atStep('process', envelope.pipeline_id);
    const visitor = envelope.anonymous_id === undefined ? undefined : { id: envelope.anonymous_id, state: lane.state };
    if (record.unreadable !== undefined)
      return { kind: 'failed', reason: record.unreadable, event, decisions: [], visitor: visitor?.state };
    const found = this.#deps.pipelines.find(envelope);
    if (found === 'unknown yet') return 'later';
    if (found === 'deleted') return { kind: 'dropped', reason: 'pipeline_deleted', event, decisions: [], visitor: visitor?.state };
    return processEvent(
      {
        event,
        request: envelope,
        org_id: envelope.org_id,
        pipeline_id: envelope.pipeline_id,
        received_at: envelope.received_at,
        organisation: found.organisation,
        processing: found.pipeline.processing,
        visitor,
        large: record.bytes > LARGE_BYTES,
      },
      this.#eventDeps,
    );
  }

  #finish(record: IngestRecord, lane: Lane, epoch: number, result: Processed): void {
    if (this.#stopped) return;
    const { org_id, anonymous_id } = record.envelope;
    let visitor: Done['visitor'];
    if (anonymous_id !== undefined && result.visitor !== undefined && lane.epoch === epoch) {
      const state: VisitorState = result.visitor;
      lane.state = state;
      visitor = { org_id, anonymous_id, state, lane, epoch };
    }
    this.#commitsOf(org_id).add({ done: { record, result, visitor }, lane }, { moreFollow: this.#beginning > 0 });
  }

  async #commit(group: readonly { done: Done; lane: Lane }[]): Promise<void> {
    const stored = await this.#persist('processed events not stored, retrying', async () => {
      await commit(
        group.map(({ done }) => done),
        this.#deps,
      );
      return true;
    });
    if (!stored) return;
    for (const { done, lane } of group) this.#settle(done, lane);
    this.#change();
  }

  #change(): void {
    const waiting = this.#waitingForChange;
    this.#waitingForChange = [];
    for (const resolve of waiting) resolve();
  }

  #settle({ record, result }: Done, lane: Lane): void {
    this.#events -= 1;
    this.#bytes -= record.bytes;
    lane.unsettled -= 1;
    const { org_id, anonymous_id } = record.envelope;
    if (lane.unsettled === 0) {
      this.#lanes.delete(lane.key);
      if (anonymous_id !== undefined) this.#deps.cache.put(org_id, anonymous_id, lane);
    }
    const share = this.#shares.get(org_id);
    if (share !== undefined) {
      share.events -= 1;
      share.bytes -= record.bytes;
      this.#forgetIfSettled(org_id, share);
    }
    if (this.#deps.tap.watched(org_id)) this.#show(record, result);
  }

  #show({ envelope }: IngestRecord, result: Processed): void {
    const event: CanonicalEvent = result.event;
    this.#deps.tap.emit(envelope.org_id, {
      stage: result.kind === 'failed' ? 'dead_lettered' : result.kind,
      pipeline_id: envelope.pipeline_id,
      event_id: event.event_id,
      type: event.type,
      ...(event.original_type !== undefined && { original_type: event.original_type }),
      ...(event.event !== undefined && { event: event.event }),
      ...(result.kind !== 'processed' && { reason: result.reason }),
      duration_ms: Math.max(0, this.#deps.clock.now() - envelope.received_at),
      payload: event,
    });
  }

  /** Retries until it succeeds; undefined where the partition was released first. Log or visitor store may be unavailable for a while. */
  async #persist<T>(failure: string, attempt: () => Promise<T>): Promise<T | undefined> {
    for (let pause = FIRST_PAUSE_MS; !this.#stopped; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        return await attempt();
      } catch (error) {
        this.#deps.logger.warn({ err: error, topic: this.#topic }, failure);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
    return undefined;
  }
}
