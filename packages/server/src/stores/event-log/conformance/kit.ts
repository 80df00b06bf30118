/** Helpers shared by the tests of a log. */
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { ConsumeOptions, Consumer, Delivery, EventLog, LogRecord, StoredRecord } from '../port.ts';

/** An engine under test. `reopen` closes the log and opens it again on the same data. */
export interface LogUnderTest {
  log(): EventLog;
  reopen(): Promise<void>;
  /** A separate log with this deduplication window. The window of the log under test is longer than the tests take. */
  withWindow(ms: number): Promise<EventLog>;
}

let counter = 0;
/** A name that no other test has used. */
export function fresh(kind = 'events'): string {
  return `${kind}.t${++counter}-${Date.now().toString(36)}`;
}
export function record(id: string, text = id): LogRecord {
  return { id, data: Buffer.from(text) };
}
export function records(topic: string, count: number, from = 0): LogRecord[] {
  return Array.from({ length: count }, (_, i) => record(`${topic}/${from + i}`, `data ${from + i}`));
}
/** The timeout only ends a hanging test. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 90_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('condition not met within 90 s');
    await sleep(10);
  }
}
export async function collect(records: AsyncIterable<StoredRecord>): Promise<StoredRecord[]> {
  const out: StoredRecord[] = [];
  for await (const one of records) out.push(one);
  return out;
}
export const texts = (list: { data: Uint8Array }[]) => list.map((one) => Buffer.from(one.data).toString());
export const BEGINNING: ConsumeOptions = { start: 'beginning', maxInFlight: 1_000, maxBatch: 100 };

/** One engine, with consumers that stop at the end of their test. */
export interface Stand {
  make(): LogUnderTest;
  log(): EventLog;
  /** Consumes until the test ends. */
  consume(topic: string, group: string, options: Partial<ConsumeOptions>, handle: (batch: Delivery[]) => Promise<void>): Consumer;
  /** A consumer that acknowledges and records every delivery. */
  reader(topic: string, group: string, options?: Partial<ConsumeOptions>): { seen: Delivery[]; consumer: Consumer };
}
export function stand(make: () => LogUnderTest): Stand {
  const log = () => make().log();
  const consume: Stand['consume'] = (topic, group, options, handle) => {
    const consumer = log().consume(topic, group, { ...BEGINNING, ...options }, handle);
    onTestFinished(() => consumer.stop());
    return consumer;
  };
  return {
    make,
    log,
    consume,
    reader(topic, group, options = {}) {
      const seen: Delivery[] = [];
      const consumer = consume(topic, group, options, async (batch) => {
        seen.push(...batch);
        await Promise.all(batch.map((delivery) => delivery.ack()));
      });
      return { seen, consumer };
    },
  };
}
