/** Collects the fields of sampled events, in the read thread: to parse two thousand events takes 20 ms and more. */
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { FieldCollector } from '@firsthand/core/event/field-collector.ts';
import { applyPii, compilePii } from '@firsthand/core/privacy/pii.ts';
import { scrubber, scrubJson } from '@firsthand/core/vendor/secrets.ts';
import { decodeEventRecord } from '../../event-record.ts';

/** What may be shown of the events. */
export interface SampleRules {
  org_id: string;
  /** Undefined if the organisation is not loaded: without its rules nothing is shown. */
  pii: DataLayerConfig['pii_rules'] | undefined;
  /** Values of the pipeline's secret parameters. */
  secrets: readonly string[];
}
/** A sample comes in chunks, because its events may be large. */
export interface SampleChunk {
  /** The same for every chunk of a sample. */
  sample: string;
  rules: SampleRules;
  /** Event records, one after the other. */
  bytes: Uint8Array;
  /** Where each of them ends. */
  ends: readonly number[];
  /** The chunk after which nothing comes. */
  last: boolean;
}

export class EventFields {
  readonly #samples = new Map<string, Sample>();

  /** For the last chunk: the JSON text of all fields. */
  collect({ sample, rules, bytes, ends, last }: SampleChunk): string | undefined {
    const collected = this.#samples.get(sample) ?? new Sample(rules);
    if (last) this.#samples.delete(sample);
    else this.#samples.set(sample, collected);
    let start = 0;
    for (const end of ends) {
      collected.add(bytes.subarray(start, end));
      start = end;
    }
    return last ? collected.text() : undefined;
  }
}

class Sample {
  readonly #collector = new FieldCollector();
  readonly #orgId: string;
  readonly #pii: ReturnType<typeof compilePii> | undefined;
  readonly #scrub: ReturnType<typeof scrubber> | undefined;
  #events = 0;

  constructor({ org_id, pii, secrets }: SampleRules) {
    this.#orgId = org_id;
    this.#pii = pii && compilePii(pii, []);
    this.#scrub = secrets.length === 0 ? undefined : scrubber(secrets);
  }
  add(record: Uint8Array): void {
    this.#events++;
    const { meta, event } = decodeEventRecord(record);
    if (this.#pii === undefined || meta.org_id !== this.#orgId) return;
    applyPii(event, this.#pii, []);
    this.#collector.add(this.#scrub === undefined ? event : scrubJson(event, this.#scrub), meta.received_at);
  }
  text(): string {
    return JSON.stringify({ ...this.#collector.result(), sampled: this.#events });
  }
}
