/**
 * Reads one partition in order. An organisation may have a share of the events in memory. Where several organisations exist, one that exceeds
 * its share gets a cursor of its own, and the reader goes on with the events behind its backlog.
 */
import { outcomeRecord, outcomesTopic } from '../../outcomes/outcome-log.ts';
import { PROCESS_GROUP } from '../../partition.ts';
import type { Consumer, Delivery, EventLog } from '../../stores/event-log/port.ts';
import type { ProcessDeps } from './deps.ts';
import { type RawRecord, readRawRecord } from './ingest-record.ts';
import { LaggingOrganisation } from './lagging-organisation.ts';
import type { VisitorLanes } from './visitor-lanes.ts';

const MAX_IN_FLIGHT = 1_024;
/** Events read at once. Reading goes ahead of processing, so that organisations behind a backlog get their turns. */
const MAX_BATCH = 64;
/** On a log that pays messages for each commit: a request of 100 events is committed at once. */
const MAX_BATCH_BY_MESSAGES = 128;
/**
 * Events of one partition in memory while only one organisation exists, the same as its share among several. A live event takes about 10 KB:
 * more of them would outgrow the young generation and cost more to collect than to process.
 */
const MAX_EVENTS_ALONE = 256;
/** Bytes of one partition's events in memory, by their stored size. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Further organisations with a backlog are waited for. */
const MAX_LAGGING = 16;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const LOOK_AGAIN_MS = 250;

export interface PartitionReaderDeps extends Pick<ProcessDeps, 'snapshots' | 'logger'> {
  log: Pick<EventLog, 'consume' | 'ackAll' | 'remove' | 'groups' | 'lag' | 'read' | 'atomic'>;
  lanes: VisitorLanes;
}

export class PartitionReader {
  readonly #topic: string;
  readonly #deps: PartitionReaderDeps;
  readonly #lagging = new Map<string, LaggingOrganisation>();
  #consumer: Consumer | undefined;
  #readsOldCursors: Promise<void> | undefined;
  #passing: Promise<void> | undefined;
  #stopped = false;

  constructor(topic: string, deps: PartitionReaderDeps) {
    this.#topic = topic;
    this.#deps = deps;
  }

  /** The groups that read this partition. */
  get groups(): string[] {
    return [PROCESS_GROUP, ...Array.from(this.#lagging.values(), ({ group }) => group)];
  }

  async start(): Promise<void> {
    let groups: string[] = [];
    await this.#persist('groups of a partition not readable, retrying', async () => {
      groups = await this.#deps.log.groups(this.#topic);
    });
    if (this.#stopped) return;
    for (const group of groups) {
      const stored = LaggingOrganisation.parse(group);
      if (stored !== undefined) this.#resume(stored);
    }
    const maxBatch = this.#deps.log.atomic ? MAX_BATCH : MAX_BATCH_BY_MESSAGES;
    const options = {
      start: 'beginning',
      maxInFlight: MAX_IN_FLIGHT,
      maxBatch,
      ordered: true,
      repeats: 'dropped',
      handsOutDuplicates: true,
    } as const;
    this.#consumer = this.#deps.log.consume(this.#topic, PROCESS_GROUP, options, (batch) => this.#take(batch));
    if (this.#lagging.size > 0) this.#readsOldCursors = this.#startOldCursors();
  }

  /** Reads nothing more, and waits until the events that were begun are durable or the time is up. */
  async drain(withinMs: number): Promise<void> {
    this.#pause();
    await this.#deps.lanes.drain(withinMs);
  }
  async stop(): Promise<void> {
    this.#pause();
    await this.#deps.lanes.stop();
    await this.#passing;
    await Promise.all([this.#consumer?.stop(), ...Array.from(this.#lagging.values(), (lagging) => lagging.stop())]);
    await this.#readsOldCursors;
  }

  #pause(): void {
    this.#stopped = true;
    for (const lagging of this.#lagging.values()) lagging.pause();
  }

  async #take(batch: readonly Delivery[]): Promise<void> {
    const { lanes } = this.#deps;
    const left: Delivery[] = [];
    const leftTo = new Set<LaggingOrganisation>();
    const duplicates: RawRecord[] = [];
    for (const delivery of batch) {
      // Records handed out while stopping stay unsettled for the next owner.
      if (this.#stopped) return;
      const record = readRawRecord(delivery, this.#topic);
      if (record === undefined) {
        await this.#discard(delivery);
        continue;
      }
      if (delivery.isDuplicate) {
        duplicates.push(record);
        continue;
      }
      const lagging = this.#laggingAt(record);
      if (lagging === undefined) {
        lanes.push(record);
        continue;
      }
      left.push(...lagging.leave(record));
      if (!leftTo.has(lagging)) {
        leftTo.add(lagging);
        lagging.acknowledging(1);
      }
    }
    lanes.begin();
    const last = batch.at(-1)?.record.position;
    if (last !== undefined) this.#pass(left, leftTo, last);
    if (duplicates.length > 0) await this.#count(duplicates);
    while (this.#isFull && !this.#stopped) await lanes.changed();
  }
  /** An event that came to two ingest processes: neither knew the other's. The ids are the same if a crash repeats this. */
  async #count(duplicates: readonly RawRecord[]): Promise<void> {
    const { log } = this.#deps;
    const records = duplicates.map(({ delivery: { record }, envelope: { org_id, pipeline_id, received_at } }) =>
      outcomeRecord(`duplicate/${this.#topic}/${record.position}`, [
        { kind: 'ingest_counts', at: received_at, org_id, pipeline_id, received: 0, duplicates: 1, rejected: {} },
      ]),
    );
    const appends = [{ topic: outcomesTopic(log, this.#topic), records }];
    const deliveries = duplicates.map(({ delivery }) => delivery);
    await this.#persist('duplicates not counted, retrying', () => log.ackAll(deliveries, { appends }));
  }
  /**
   * Acknowledges what belongs to cursors, and tells them how far the reader is. The next batch does not wait for it: the events of others may
   * be in there. The consumer's limit of events in flight bounds what is not acknowledged.
   */
  #pass(left: readonly Delivery[], leftTo: ReadonlySet<LaggingOrganisation>, last: string): void {
    if (leftTo.size === 0 && this.#passing === undefined) {
      this.#readerIsAt(last);
      return;
    }
    // One after the other: the position must not go back.
    const passing = (this.#passing ?? Promise.resolve()).then(async () => {
      if (left.length > 0) {
        await this.#persist('events of a lagging organisation not acknowledged, retrying', async () => {
          await Promise.all(Array.from(leftTo, ({ started }) => started));
          await this.#deps.log.ackAll(left);
        });
      }
      for (const lagging of leftTo) lagging.acknowledging(-1);
      this.#readerIsAt(last);
      if (this.#passing === passing) this.#passing = undefined;
    });
    this.#passing = passing;
  }
  #readerIsAt(position: string): void {
    for (const lagging of this.#lagging.values()) lagging.readerIsAt(position);
  }
  get #isFull(): boolean {
    const { lanes, snapshots } = this.#deps;
    return lanes.bytes > MAX_BYTES || (lanes.events >= MAX_EVENTS_ALONE && snapshots.current().organisations.size < 2);
  }

  /** The cursor that this event belongs to. Undefined: the reader's own. */
  #laggingAt({ envelope, delivery }: RawRecord): LaggingOrganisation | undefined {
    const known = this.#lagging.get(envelope.org_id);
    const { position, time } = delivery.record;
    if (known !== undefined) return position < known.first ? undefined : known;
    const { lanes, snapshots, logger } = this.#deps;
    if (!lanes.isFull(envelope.org_id) || this.#lagging.size >= MAX_LAGGING || snapshots.current().organisations.size < 2) return undefined;
    logger.info({ topic: this.#topic, org_id: envelope.org_id, position }, 'organisation lags, reading its events separately');
    return this.#resume({ orgId: envelope.org_id, first: position, time });
  }
  #resume(from: { orgId: string; first: string; time: number }): LaggingOrganisation {
    const { log, lanes } = this.#deps;
    const lagging: LaggingOrganisation = new LaggingOrganisation(this.#topic, from, {
      log,
      lanes,
      persist: (failure, attempt) => this.#persist(failure, attempt),
      onEnd: (held) => {
        this.#lagging.delete(from.orgId);
        for (const record of held) lanes.push(record);
        lanes.begin();
      },
    });
    this.#lagging.set(from.orgId, lagging);
    return lagging;
  }

  /**
   * After a restart a cursor waits until the reader has passed its first event: earlier events of the organisation may be unsettled. The
   * reader passes it with the next event, or has nothing left to read.
   */
  async #startOldCursors(): Promise<void> {
    const { log } = this.#deps;
    const behind = [...this.#lagging.values()];
    while (!this.#stopped && behind.some((lagging) => this.#lagging.get(lagging.orgId) === lagging)) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      let last: string | undefined;
      const read = await this.#persist('lag of a partition not readable, retrying', async () => {
        last = undefined;
        for await (const { position } of log.read(this.#topic, { reverse: true, limit: 1 })) last = position;
        if ((await log.lag(this.#topic, PROCESS_GROUP)).waiting > 0) last = undefined;
      });
      if (!read || last === undefined) continue;
      for (const lagging of behind) lagging.readerIsAt(last);
      return;
    }
  }

  async #persist(failure: string, attempt: () => Promise<unknown>): Promise<boolean> {
    for (let pause = FIRST_PAUSE_MS; !this.#stopped; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        await attempt();
        return true;
      } catch (error) {
        this.#deps.logger.warn({ err: error, topic: this.#topic }, failure);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
    return false;
  }

  async #discard(delivery: Delivery): Promise<void> {
    const { position } = delivery.record;
    this.#deps.logger.error({ topic: this.#topic, position }, 'ingest record without a readable envelope skipped');
    await this.#persist('unreadable ingest record not acknowledged, retrying', () => delivery.ack());
  }
}
