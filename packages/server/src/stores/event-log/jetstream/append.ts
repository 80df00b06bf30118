import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Append, AppendResult } from '../port.ts';
import { maxPayloadOf } from './connection.ts';
import { AllIds, FamilyIds } from './family-ids.ts';
import { familyOf, type Layout, type Place } from './names.ts';
import { NoStream, type Publisher } from './publisher.ts';
import { packRecord } from './record-batch.ts';
import { Rounds } from './rounds.ts';
import type { IdScanner } from './scan-ids.ts';
import type { Streams } from './streams.ts';
import { type Call, TopicWriter } from './topic-writer.ts';

export interface AppenderDeps {
  connection: NatsConnection;
  layout: Layout;
  streams: Streams;
  publisher: Publisher;
  scanner: IdScanner;
  windowMs: number;
  now(): number;
}

/** Nobody waits for processed events: their acceptance is confirmed. A lone one does not wait for this. */
const PACED_FAMILY = 'events';
const PACE_MS = 20;
/** Idle writers above this number are dropped. */
const MOST_WRITERS = 5_000;

/** Writes records to topics: one writer per topic, which batches and deduplicates. */
export class Appender {
  readonly #deps: AppenderDeps;
  readonly #ids: AllIds;
  readonly #writers = new Map<string, TopicWriter>();
  /** By stream. */
  readonly #rounds = new Map<string, Rounds>();
  readonly #idPrefix = randomBytes(9).toString('base64url');
  #counter = 0;

  constructor(deps: AppenderDeps) {
    this.#deps = deps;
    this.#ids = new AllIds(
      (family) => new FamilyIds(family, deps),
      (families) => {
        for (const topic of this.#writers.keys()) if (families.has(familyOf(topic))) this.#writers.delete(topic);
      },
    );
  }

  async append({ topic, records }: Append): Promise<AppendResult> {
    const place = this.#deps.layout.placeOf(topic);
    if (records.length === 0) return { positions: [] };
    try {
      await this.#deps.streams.ensure(place);
      const writer = this.#writers.get(topic) ?? (await this.#open(place));
      return await new Promise((resolve, reject) => {
        const positions = new Array<string | undefined>(records.length).fill(undefined);
        const call: Call = { positions, left: records.length, resolve: () => resolve({ positions }), reject };
        for (const [index, record] of records.entries()) writer.add(record.id, packRecord(record), call, index);
      });
    } catch (error) {
      if (error instanceof NoStream) this.#deps.streams.forget(place.stream);
      throw error;
    }
  }

  /** Learns the ids that are stored in the topics of this family. */
  async prepare(family: string): Promise<void> {
    await this.#ids.of(family);
  }

  async #open({ topic, family, stream, subject }: Place): Promise<TopicWriter> {
    const ids = await this.#ids.of(family);
    const { connection, publisher } = this.#deps;
    let writer = this.#writers.get(topic);
    if (writer) return writer;
    const rounds = this.#rounds.get(stream) ?? new Rounds(family === PACED_FAMILY ? PACE_MS : 0);
    this.#rounds.set(stream, rounds);
    writer = new TopicWriter({
      rounds,
      publish: (data, headers) => publisher.publish(subject, data, headers),
      ids,
      maxPayload: () => maxPayloadOf(connection),
      messageId: () => `${this.#idPrefix}${(this.#counter++).toString(36)}`,
    });
    if (this.#writers.size >= MOST_WRITERS) for (const [name, idle] of this.#writers) if (idle.isIdle) this.#writers.delete(name);
    this.#writers.set(topic, writer);
    return writer;
  }

  /** Learns the ids that other processes have stored. */
  refreshIds(): Promise<void> {
    return this.#ids.refresh();
  }

  close(): void {
    for (const writer of this.#writers.values()) writer.close();
  }
}
