import type { Steps } from '@firsthand/core/steps.ts';
import { type DecodedEventRecord, decodeEventRecord, decodeEventRecordInSteps, openEventRecord } from '../../event-record.ts';
import type { StoredRecord } from '../../stores/event-log/port.ts';

/**
 * Parsed records, so that ten integrations of one pipeline parse each record once. The first reader parses a record, and it is forgotten when all
 * the others have read it. If some are far behind, the cache is bounded by bytes: the oldest record is evicted first.
 */
export class RecordCache {
  readonly #entries = new Map<string, { decoded: DecodedEventRecord; bytes: number; readers: number }>();
  /** By topic: the newest append time of a record that was kept. */
  readonly #newest = new Map<string, number>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Of the records that it keeps. Parsed, they take about five times as much. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Throws where the bytes are not an event record. `others`: how many other integrations are likely to read it too. `read`: this one needs
   * the parsed event; else parsing waits until somebody reads it.
   */
  decode(topic: string, record: StoredRecord, others: number, read: boolean): DecodedEventRecord {
    if (others === 0) return read ? decodeEventRecord(record.data) : openEventRecord(record.data);
    const key = keyOf(topic, record);
    return this.#take(key) ?? this.#keep(topic, record, decodeEventRecord(record.data), others);
  }
  /** Like `decode`, in steps: for a record of up to 1 MB. */
  *decodeInSteps(topic: string, record: StoredRecord, others: number, read: boolean): Steps<DecodedEventRecord> {
    if (others === 0) return read ? yield* decodeEventRecordInSteps(record.data) : openEventRecord(record.data);
    const key = keyOf(topic, record);
    const known = this.#take(key);
    if (known) return known;
    const decoded = yield* decodeEventRecordInSteps(record.data);
    // Another integration may have parsed it meanwhile.
    return this.#take(key) ?? this.#keep(topic, record, decoded, others);
  }

  #take(key: string): DecodedEventRecord | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined && --entry.readers === 0) this.#forget(key, entry.bytes);
    return entry?.decoded;
  }
  #keep(topic: string, record: StoredRecord, decoded: DecodedEventRecord, readers: number): DecodedEventRecord {
    const bytes = record.data.length;
    const newest = this.#newest.get(topic);
    // One that is behind reads what is evicted or forgotten already.
    if (newest !== undefined && record.time < newest) return decoded;
    this.#newest.set(topic, record.time);
    this.#entries.set(keyOf(topic, record), { decoded, bytes, readers });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(oldest, entry.bytes);
    }
    return decoded;
  }
  #forget(key: string, bytes: number): void {
    this.#entries.delete(key);
    this.#bytes -= bytes;
  }
}

function keyOf(topic: string, { position }: StoredRecord): string {
  return `${topic}/${position}`;
}
