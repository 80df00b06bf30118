import type { Steps } from '@firsthand/core/steps.ts';
import { type DecodedEventRecord, decodeEventRecord, decodeEventRecordInSteps, openEventRecord } from '../../event-record.ts';
import type { StoredRecord } from '../../stores/event-log/port.ts';

/** Parsed records, so that ten integrations of one pipeline parse each record once. Bounded by bytes; the oldest is evicted first. */
export class RecordCache {
  readonly #entries = new Map<string, { decoded: DecodedEventRecord; bytes: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Throws where the bytes are not an event record. `shared`: another integration is likely to read it too. `read`: this one needs
   * the parsed event; else parsing waits until somebody reads it.
   */
  decode(topic: string, record: StoredRecord, shared: boolean, read: boolean): DecodedEventRecord {
    if (!shared) return read ? decodeEventRecord(record.data) : openEventRecord(record.data);
    const key = `${topic}/${record.position}`;
    return this.#entries.get(key)?.decoded ?? this.#keep(key, decodeEventRecord(record.data), record.data.length);
  }
  /** Like `decode`, in steps: for a record of up to 1 MB. */
  *decodeInSteps(topic: string, record: StoredRecord, shared: boolean, read: boolean): Steps<DecodedEventRecord> {
    if (!shared) return read ? yield* decodeEventRecordInSteps(record.data) : openEventRecord(record.data);
    const key = `${topic}/${record.position}`;
    const known = this.#entries.get(key);
    if (known) return known.decoded;
    const decoded = yield* decodeEventRecordInSteps(record.data);
    // Another integration may have parsed it meanwhile.
    return this.#entries.get(key)?.decoded ?? this.#keep(key, decoded, record.data.length);
  }

  #keep(key: string, decoded: DecodedEventRecord, bytes: number): DecodedEventRecord {
    this.#entries.set(key, { decoded, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.#bytes -= entry.bytes;
    }
    return decoded;
  }
}
