/** Messages that come from a broker. Each kind of source has a driver behind this port, loaded when a source first needs it. */
import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import type { DriverOptions } from '../port.ts';

export type ConsumerKind = Exclude<WebhookSource['kind'], 'webhook'>;

export interface SourceMessage {
  /** Unique in the source, and the same at every redelivery. */
  id: string;
  headers: Record<string, string>;
  /** Where it came from, such as topic and key. Mappings read it as `$query.topic`. */
  query: Record<string, string>;
  body: Buffer;
}
export interface Consumer {
  /** Waits a few seconds for messages; none is an empty list. Rejects when the broker is away, or after `close`. */
  receive(): Promise<SourceMessage[]>;
  /** The messages of the last `receive` are durable: the broker may forget them. */
  acknowledge(): Promise<void>;
  /** Messages that wait at the broker. */
  lag(): Promise<number>;
  /** Never rejects. Unacknowledged messages are delivered again. */
  close(): Promise<void>;
}
export interface ConsumerSettings {
  /** The source's id, for names at the broker. */
  id: string;
  connection: Readonly<Record<string, string>>;
  secret: string;
}
/** Connects. Rejects with a reason that a person can act on. */
export type OpenConsumer = (settings: ConsumerSettings, options: DriverOptions) => Promise<Consumer>;

/** Messages that one `receive` returns at most. */
export const MAX_MESSAGES = 500;
/** How long `receive` waits. */
export const WAIT_MS = 5_000;
